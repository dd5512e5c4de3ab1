/* What was measured, and how it compares with what is on record. SPDX-License-Identifier: MIT */
#include "verify/error_record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t error_record_column(error_record *e, const char *data) {
    size_t length = strncmp(data, "museum:", 7) == 0 ? 6 : strlen(data), k = 0; /* all exhibits */
    while (k < e->kind_count &&
           (strlen(e->kinds[k]) != length || memcmp(e->kinds[k], data, length)))
        k++;
    if (k == KINDS_MOST || length >= sizeof e->kinds[0]) return KINDS_MOST;
    if (k == e->kind_count) memcpy(e->kinds[e->kind_count++], data, length);
    return k;
}

int error_record_order(const void *a, const void *b) {
    const error_line *l = a, *m = b;
    int name = strcmp(l->name, m->name), isa = strcmp(l->isa, m->isa);
    return name ? name : isa ? isa : strcmp(l->problem, m->problem);
}

static size_t index_of(const nl_impl *impl) {
    size_t i = 0;
    while (nl_impl_at(i) != impl) i++;
    return i;
}

bool error_record_idle(const error_record *e, const error_line *l) {
    if (l->impl) return !e->ran[index_of(l->impl)];
    for (size_t i = 0; i < nl_impl_count(); i++) /* an ISA that is built and runs: it is gone */
        if (strcmp(nl_impl_at(i)->isa, l->isa) == 0) return !nl_isa_runs(l->isa);
    return true;
}

void error_record_note(error_record *e, const nl_impl *impl, const nl_case *c, const verdict *v) {
    const nl_problem *p = &c->problem;
    size_t at = index_of(impl), k;
    e->ran[at] = true;
    if (impl->demonstration) return;
    if (v->outcome != OUTCOME_OK || !(v->bound_u > 0)) return;
    size_t line = ((size_t)p->op * NL_PASSES + p->pass) * NL_DTYPES + p->dtype;
    error_line *l = &e->now[at * LINES_PER_IMPL + line];
    if (!*l->problem) {
        *l = (error_line){.name = impl->name, .isa = impl->isa, .impl = impl};
        snprintf(l->problem, sizeof l->problem, "%s/%s/%s", nl_op_name(p->op),
                 nl_pass_name(p->pass), nl_dtype_name(p->dtype));
        for (k = 0; k < KINDS_MOST; k++) l->u[k] = NAN;
    }
    if ((k = error_record_column(e, c->data)) == KINDS_MOST || v->error_u <= l->u[k]) return;
    l->u[k] = v->error_u, l->where[k] = c;
}

static const error_line *find(const error_line *lines, size_t count, const error_line *wanted) {
    for (size_t i = 0; i < count; i++)
        if (lines[i].name && error_record_order(&lines[i], wanted) == 0) return &lines[i];
    return NULL;
}

/* One number, was and is; false: nothing is wrong with it. What is on record has four digits, and a
 * shorter long double moves errors by far less than 1e-6 units. */
static bool differs(const error_record *e, const error_line *was, const error_line *is, size_t k,
                    bool say) {
    double old = was->u[k], new = is->u[k];
    bool higher = new > old * 1.001 + 1e-6;
    if (isnan(old) == isnan(new) && !higher) return false;
    if (!say) return true;
    fprintf(stderr, "FAIL %s@%s, %s on %s: ", is->name, is->isa, is->problem, e->kinds[k]);
    if (isnan(new)) {
        fprintf(stderr, "nothing was held to a bound, %.4g units on record (%s:%zu)\n", old,
                e->path, was->number);
        return true;
    }
    fprintf(stderr, "the largest error is %.4g units, ", new);
    if (higher)
        fprintf(stderr, "%.4g on record (%s:%zu)\n", old, e->path, was->number);
    else
        fprintf(stderr, "nothing on record (%s:%zu)\n", e->path, was->number);
    fprintf(stderr, "     repeat: normlab check '%s' --impl '%s@%s'\n", is->where[k]->text,
            is->name, is->isa);
    return true;
}

size_t error_record_compare(const error_record *e) {
    enum { MOST = 20 };
    size_t wrong = 0, compared = 0, idle = 0;
    for (size_t i = 0; i < e->now_count; i++) {
        const error_line *is = &e->now[i], *was;
        if (!*is->problem) continue;
        if (!(was = find(e->file, e->file_count, is))) {
            if (wrong++ < MOST)
                fprintf(stderr, "FAIL %s@%s, %s: no line in %s\n", is->name, is->isa, is->problem,
                        e->path);
            continue;
        }
        for (size_t k = 0; k < e->kind_count; k++) {
            compared += !isnan(is->u[k]);
            wrong += differs(e, was, is, k, wrong < MOST);
        }
    }
    for (size_t i = 0; i < e->file_count; i++) {
        const error_line *was = &e->file[i];
        bool left = error_record_idle(e, was);
        idle += left;
        if (left || find(e->now, e->now_count, was) || wrong++ >= MOST) continue;
        fprintf(stderr, "FAIL %s@%s, %s is on record (%s:%zu): %s\n", was->name, was->isa,
                was->problem, e->path, was->number,
                was->impl ? "nothing was held to a bound" : "there is no such implementation");
    }
    if (e->kind_count == KINDS_MOST)
        wrong++, fprintf(stderr, "FAIL there is no room for more than %d kinds\n", KINDS_MOST - 1);
    if (wrong > MOST) fprintf(stderr, "(and %zu more like these)\n", wrong - MOST);
    fprintf(stderr, "largest errors: %zu compared with %s, %zu failed, %zu lines left alone\n",
            compared, e->path, wrong, idle);
    if (wrong)
        fprintf(stderr,
                "If this is meant, run `normlab check --update-errors %s` and commit the file with "
                "the reason.\n",
                e->path);
    return wrong;
}
