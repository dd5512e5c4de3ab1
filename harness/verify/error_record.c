/* SPDX-License-Identifier: MIT */
#include "verify/error_record.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t error_record_column(error_record *e, const char *data) {
    size_t length = strcspn(data, ":"), k = 0; /* "offset" of "offset:16" */
    while (k < e->kind_count &&
           (strlen(e->kinds[k]) != length || memcmp(e->kinds[k], data, length)))
        k++;
    if (k == KINDS_MAX || length >= sizeof e->kinds[0]) return KINDS_MAX;
    if (k == e->kind_count) memcpy(e->kinds[e->kind_count++], data, length);
    return k;
}

int error_record_order(const void *a, const void *b) {
    const error_line *l = a, *m = b;
    int name = strcmp(l->name, m->name), isa = strcmp(l->isa, m->isa);
    return name ? name : isa ? isa : strcmp(l->problem, m->problem);
}

/* The kind of x, or `others` if another input is unusual. */
static const char *column_of(const nl_case *c) {
    bool usual = c->gain == 1;
    for (nl_arg a = 0; a < NL_ARGS; a++) usual = usual && (a == NL_X || !c->kind[a].value);
    return usual ? c->data : "others";
}

/* Tensors (y, dx, dgate) have a line for each type; other outputs have one line for all types. */
static bool has_type(nl_arg output) {
    return nl_args[output].extent == NL_TENSOR;
}

bool error_record_not_run(const error_record *e, const error_line *l) {
    if (l->impl) return !e->ran[impl_index(l->impl)];
    for (size_t i = 0; i < nl_impl_count(); i++) /* if its ISA runs, the rung was removed */
        if (strcmp(nl_impl_at(i)->isa, l->isa) == 0) return !nl_isa_runs(l->isa);
    return true;
}

static error_line *new_line(const nl_impl *impl, const nl_problem *p, nl_arg output) {
    bool main = output == NL_Y || output == NL_DX;
    error_line *l = malloc(sizeof *l);
    if (!l) return NULL;
    *l = (error_line){.name = impl->name, .isa = impl->isa, .impl = impl};
    snprintf(l->problem, sizeof l->problem, "%s/%s%s%s%s%s", nl_op_name(p->op),
             nl_pass_name(p->pass), has_type(output) ? "/" : "",
             has_type(output) ? nl_dtype_name(p->dtype) : "", main ? "" : "/",
             main ? "" : nl_args[output].name);
    for (size_t k = 0; k < KINDS_MAX; k++) l->u[k] = NAN;
    return l;
}

bool error_record_note(error_record *e, const nl_impl *impl, const nl_case *c, const verdict *v) {
    const nl_problem *p = &c->problem;
    size_t at = impl_index(impl), k;
    e->ran[at] = true;
    if (impl->demonstration) return true;
    if (v->outcome != OUTCOME_OK || !(v->bound_u > 0)) return true;
    if ((k = error_record_column(e, column_of(c))) == KINDS_MAX) return true;
    const size_t problem = ((size_t)p->op * NL_PASSES + p->pass) * NL_DTYPES;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        if (isnan(v->largest[s]) || s == NL_RESIDUAL_OUT) continue; /* its bound is one rounding */
        const size_t job = problem + (has_type(s) ? p->dtype : 0);
        error_line **line = &e->now[at * LINES_PER_IMPL + job * NL_ARGS + s];
        if (!*line && !(*line = new_line(impl, p, s))) return false;
        if (v->largest[s] <= (*line)->u[k]) continue;
        (*line)->u[k] = v->largest[s], (*line)->where[k] = c;
    }
    return true;
}

/* Finds the file's line for a line of this run, by binary search. */
static const error_line *on_file(const error_record *e, const error_line *wanted) {
    return bsearch(wanted, e->file, e->file_count, sizeof *e->file, error_record_order);
}

static bool isa_on_file(const error_record *e, const char *isa) {
    for (size_t i = 0; i < e->file_count; i++)
        if (strcmp(e->file[i].isa, isa) == 0) return true;
    return false;
}

static bool in_run(const error_record *e, const error_line *wanted) {
    for (size_t i = 0; i < e->now_count; i++)
        if (e->now[i] && error_record_order(e->now[i], wanted) == 0) return true;
    return false;
}

/* The function to which a comparison gives its findings. */
typedef struct sink {
    void (*take)(void *context, const error_finding *f);
    void *context;
    error_counts counts;
} sink;

static void add_finding(sink *o, const error_line *line, const nl_case *repeat, const char *format,
                        ...) {
    error_finding f = {.line = line, .repeat = repeat};
    va_list rest;
    int n = line
                ? snprintf(f.text, sizeof f.text, "%s@%s, %s", line->name, line->isa, line->problem)
                : 0;
    va_start(rest, format);
    if (n >= 0 && (size_t)n < sizeof f.text)
        vsnprintf(f.text + n, sizeof f.text - (size_t)n, format, rest);
    va_end(rest);
    o->counts.failed++;
    o->take(o->context, &f);
}

/* Compares one number of the record with this run's number. The record has four digits, and a
 * shorter long double changes errors by far less than 1e-6 units. */
static void compare_number(const error_record *e, const error_line *was, const error_line *is,
                           size_t k, sink *o) {
    double old = was->u[k], new = is->u[k];
    const char *kind = e->kinds[k], *path = e->path;
    o->counts.compared += !isnan(new);
    if (isnan(old) && isnan(new)) return;
    if (isnan(new))
        add_finding(
            o, is, NULL,
            " on %s: nothing was checked against a bound, but %.4g units are on record (%s:%zu)",
            kind, old, path, was->number);
    else if (isnan(old))
        add_finding(o, is, is->where[k],
                    " on %s: the largest error is %.4g units, but nothing is on record (%s:%zu)",
                    kind, new, path, was->number);
    else if (new > old * 1.001 + 1e-6)
        add_finding(o, is, is->where[k],
                    " on %s: the largest error is %.4g units, %.4g on record (%s:%zu)", kind, new,
                    old, path, was->number);
}

error_counts error_record_compare(const error_record *e,
                                  void (*take)(void *context, const error_finding *f),
                                  void *context) {
    sink o = {.take = take, .context = context};
    for (size_t i = 0; i < e->now_count; i++) {
        const error_line *is = e->now[i], *was;
        if (!is) continue;
        if (!(was = on_file(e, is)) && !isa_on_file(e, is->isa))
            o.counts.unknown = is->isa;
        else if (!was)
            add_finding(&o, is, NULL, ": no line in %s", e->path);
        for (size_t k = 0; was && k < e->kind_count; k++) compare_number(e, was, is, k, &o);
    }
    for (size_t i = 0; i < e->file_count; i++) {
        const error_line *was = &e->file[i];
        bool not_run = error_record_not_run(e, was);
        o.counts.not_run += not_run;
        if (not_run || in_run(e, was)) continue;
        add_finding(&o, was, NULL, " is on record (%s:%zu), but %s", e->path, was->number,
                    was->impl ? "nothing was checked against a bound"
                              : "there is no such implementation");
    }
    if (e->kind_count == KINDS_MAX)
        add_finding(&o, NULL, NULL, "more than %d kinds of data do not fit", KINDS_MAX - 1);
    return o.counts;
}
