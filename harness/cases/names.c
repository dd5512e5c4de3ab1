/* SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "layer.h"

#include <stdio.h>
#include <string.h>

const char *op_name(int op) {
    return nl_op_name((nl_op)op);
}

const char *pass_name(int pass) {
    return nl_pass_name((nl_pass)pass);
}

const char *dtype_name(int dtype) {
    return nl_dtype_name((nl_dtype)dtype);
}

const char *names_of(unsigned bits, const char *(*name)(int), const char *between, char text[128]) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; bits >> i; i++)
        if (bits >> i & 1)
            used += (size_t)snprintf(text + used, 128 - used, "%s%s", used ? between : "", name(i));
    return text;
}

size_t impl_index(const nl_impl *impl) {
    size_t i = 0;
    while (nl_impl_at(i) != impl) i++;
    return i;
}

const char *method_at(int method) {
    static const char *const methods[] = {[NL_ONE_PASS] = "one-pass",
                                          [NL_SHIFTED] = "shifted",
                                          [NL_WELFORD] = "welford",
                                          [NL_TWO_PASS] = "two-pass",
                                          [NL_REFINED] = "refined"};
    return methods[method];
}

const char *method_name(const nl_impl *m) {
    bool centred = false;
    for (nl_op op = 0; op < NL_OPS; op++)
        centred = centred || (m->ops & NL_BIT(op) && nl_layers[op].centred);
    return centred && m->passes & NL_BIT(NL_FORWARD) ? method_at(m->method) : "-";
}

static bool find_name(const char *text, const char *(*name)(int), int count, int *found) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, name(i)) == 0) return *found = i, true;
    return false;
}

bool pass_from_name(const char *name, nl_pass *pass) {
    int found;
    return find_name(name, pass_name, NL_PASSES, &found) && (*pass = (nl_pass)found, true);
}

bool dtype_from_name(const char *name, nl_dtype *dtype) {
    int found;
    return find_name(name, dtype_name, NL_DTYPES, &found) && (*dtype = (nl_dtype)found, true);
}

bool method_from_name(const char *name, nl_method *method) {
    int found;
    return find_name(name, method_at, NL_REFINED + 1, &found) && (*method = (nl_method)found, true);
}

/* "a, b or c". */
static const char *list_names(const char *(*name)(int), int count) {
    static char text[200];
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 !i              ? ""
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 name(i));
    return text;
}

const char *layer_names(void) {
    static char text[300];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", list_names(op_name, NL_OPS));
    const char *before = " (also ";
    for (int i = 0; i < NL_OPS * NL_ALIASES && used < sizeof text; i++) {
        const char *alias = nl_layers[i / NL_ALIASES].aliases[i % NL_ALIASES];
        if (!alias) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", before, alias);
        before = ", ";
    }
    if (used < sizeof text - 1) strcpy(text + used, ")");
    return text;
}

const char *pass_names(void) {
    return list_names(pass_name, NL_PASSES);
}

const char *dtype_names(void) {
    return list_names(dtype_name, NL_DTYPES);
}

const char *method_names(void) {
    return list_names(method_at, NL_REFINED + 1);
}
