/* The spelling of one case. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "base/npy_read.h"
#include "cases/kinds.h"
#include "layer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *op_name(int i) {
    return nl_op_name((nl_op)i);
}

static const char *pass_name(int i) {
    return nl_pass_name((nl_pass)i);
}

static const char *dtype_name(int i) {
    return nl_dtype_name((nl_dtype)i);
}

static bool find_name(const char *text, const char *(*name)(int), int count, int *found) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, name(i)) == 0) return *found = i, true;
    return false;
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

const char *dtype_names(void) {
    return list_names(dtype_name, NL_DTYPES);
}

bool parse_size(const char **text, size_t *out) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    unsigned long long v = strtoull(*text, &end, 10);
    if (errno || v > SIZE_MAX) return false;
    *out = (size_t)v, *text = end;
    return true;
}

static bool parse_shape(const char *text, nl_problem *p) {
    p->s = 1;
    if (!parse_size(&text, &p->n) || *text++ != 'x' || !parse_size(&text, &p->c)) return false;
    if (*text == 'x') {
        text++;
        if (!parse_size(&text, &p->s)) return false;
    }
    return *text == '\0';
}

static bool parse_number(const char *text, float *out) {
    char *end;
    *out = strtof(text, &end);
    return end != text && *end == '\0';
}

static bool parse_count(const char *text, size_t least, size_t most, size_t *out) {
    return parse_size(&text, out) && *text == '\0' && *out >= least && *out <= most;
}

static bool parse_option(const char *text, nl_case *c) {
    size_t count;
    if (strcmp(text, "rotating") == 0) return c->cache = CACHE_ROTATING, true;
    if (strcmp(text, "streaming") == 0) return c->streaming = true;
    if (strcmp(text, "cold") == 0) return c->cache = CACHE_COLD, true;
    if (strncmp(text, "skew=", 5) == 0)
        return parse_count(text + 5, 0, 65536, &c->skew) && c->skew % 4 == 0;
    if (strncmp(text, "threads=", 8) == 0) {
        if (!parse_count(text + 8, 1, 4096, &count)) return false;
        return c->threads = (int)count, true;
    }
    if (strcmp(text, "residual") == 0) return c->residual = true;
    if (strcmp(text, "in-place") == 0) return c->in_place = true;
    if (strcmp(text, "no-affine") == 0) return c->no_affine = true;
    if (strcmp(text, "cast-before-weight") == 0)
        return c->problem.casting = NL_CAST_BEFORE_WEIGHT, true;
    if (strcmp(text, "biased-running-var") == 0) return c->problem.biased_running_var = true;
    if (strncmp(text, "gain=", 5) == 0) return parse_number(text + 5, &c->gain);
    if (strncmp(text, "eps=", 4) == 0) return parse_number(text + 4, &c->problem.eps);
    if (strncmp(text, "momentum=", 9) == 0) return parse_number(text + 9, &c->problem.momentum);
    return false;
}

/* Cuts the next component off *rest; "npy:" takes all up to its ".npy", slashes included. */
static char *component(char **rest) {
    char *start = *rest, *from = start;
    if (!start) return NULL;
    if (strncmp(start, "npy:", 4) == 0)
        for (char *end = start; (end = strstr(end, ".npy")); end += 4)
            if (end[4] == '/' || end[4] == '\0') {
                from = end;
                break;
            }
    char *slash = strchr(from, '/');
    *rest = slash ? slash + 1 : NULL;
    if (slash) *slash = '\0';
    return start;
}

/* Sets n and c from the case's npy file. */
static bool file_shape(nl_case *c, char *error, size_t error_size) {
    npy a;
    if (strncmp(c->data, "npy:", 4) != 0) {
        snprintf(error, error_size, "case %s: shape `file` is for data npy:FILE", c->text);
        return false;
    }
    if (!npy_read(c->data + 4, &a, error, error_size)) return false;
    bool ok = a.rank >= 1 && a.shape[a.rank - 1] > 0;
    if (ok) {
        c->problem.c = a.shape[a.rank - 1];
        c->problem.n = a.count / c->problem.c;
    } else {
        snprintf(error, error_size, "%s has no last axis to normalize over", c->data + 4);
    }
    npy_free(&a);
    return ok;
}

bool case_parse(const char *text, nl_case *out, char *error, size_t error_size) {
    nl_case c = {.problem = {.eps = 1e-5f, .momentum = 0.1f, .s = 1}, .gain = 1};
    char copy[CASE_TEXT], *rest = copy;
    const char *wrong = NULL, *should = NULL;
    data_kind kind;
    int found;
    if (strlen(text) >= sizeof copy) {
        snprintf(error, error_size, "a case is at most %d characters long", CASE_TEXT - 1);
        return false;
    }
    strcpy(copy, text);
    strcpy(c.text, text);
    char *op = component(&rest), *pass = component(&rest), *dtype = component(&rest);
    char *shape = component(&rest), *data = component(&rest);

    if (!data) {
        wrong = text,
        should = "op/pass/dtype/NxC[xS]/data, as layernorm/forward/f32/64x1024/normal";
    } else if (!nl_op_from_name(op, &c.problem.op)) {
        wrong = op, should = layer_names();
    } else if (!find_name(pass, pass_name, NL_PASSES, &found)) {
        wrong = pass, should = list_names(pass_name, NL_PASSES);
    } else if (c.problem.pass = (nl_pass)found, !find_name(dtype, dtype_name, NL_DTYPES, &found)) {
        wrong = dtype, should = dtype_names();
    } else if (c.problem.dtype = (nl_dtype)found,
               strcmp(shape, "file") != 0 && !parse_shape(shape, &c.problem)) {
        wrong = shape, should = "NxC or NxCxS, as 64x1024, or `file` for npy data";
    } else if (strlen(data) >= sizeof c.data || !kind_find(data, &kind)) {
        wrong = data, should = kind_names();
    }
    if (wrong) {
        snprintf(error, error_size, "case %s: '%s' should be %s", text, wrong, should);
        return false;
    }
    strcpy(c.data, data);
    c.options = rest ? (size_t)(rest - copy) : strlen(text);
    for (char *option; (option = component(&rest));) {
        if (parse_option(option, &c)) continue;
        snprintf(error, error_size,
                 "case %s: option '%s' should be residual, in-place, no-affine, gain=K, "
                 "cast-before-weight, biased-running-var, eps=E, momentum=M, threads=N, streaming, "
                 "rotating, "
                 "cold or skew=BYTES (a multiple of 4)",
                 text, option);
        return false;
    }
    if (c.residual && !nl_layers[c.problem.op].residual) {
        snprintf(error, error_size, "case %s: %s takes no residual", text, op);
        return false;
    }
    if (strcmp(shape, "file") == 0 && !file_shape(&c, error, error_size)) return false;
    *out = c;
    return true;
}
