/* Compares outputs. One unit is the rounding error of the storage type, 2^-24, 2^-11 or 2^-8, times
 * the scale of the number: the size of the terms of its sum. Ulps would mean nothing if the
 * result is near zero. SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "dtype.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result of all comparisons so far. */
typedef struct tally {
    size_t compared, misrounded[NL_ARGS];
    double error[NL_ARGS], bound[NL_ARGS]; /* the largest of each output */
    double worst; /* largest error / bound of a promised number; fields below describe it */
    bool unpromised;
    nl_arg arg;
    size_t index;
    double got, its_error;
    expected_value its_expected;
} tally;

static double unsigned_nan(double v) {
    return isnan(v) ? fabs(v) : v;
}

const char *outcome_name(outcome o) {
    static const char *const names[] = {"ok", "fail", "demo", "skip"};
    return names[o];
}

verdict failure(const char *format, const char *what) {
    verdict v = {.outcome = OUTCOME_FAIL, .error_u = INFINITY};
    snprintf(v.why, sizeof v.why, format, what);
    return v;
}

static void check(tally *t, nl_arg s, size_t i, double got, const expected_value *d) {
    double low = d->low, high = d->high;
    const bool loose = d->loose || nl_args[s].extent != NL_TENSOR || s == NL_DX;
    if (loose && !isfinite(low) && !isfinite(got))
        low = high = got; /* a sum with Inf is Inf or NaN: the order of its terms decides */
    double error = error_units(d->dtype, got, low, high, d->scale), most = d->allowed.probable;
    const bool rounded = expected_rounded(d, got);
    t->compared++;
    if (!(error < t->error[s])) t->error[s] = error, t->bound[s] = most;
    if (!d->promised) {
        t->unpromised = true;
        return;
    }
    t->misrounded[s] += !rounded;
    double ratio = error <= most && rounded ? error / (most > 0 ? most : 1) : 2 + error;
    if (ratio <= t->worst) return;
    t->worst = ratio;
    t->arg = s, t->index = i, t->got = got, t->its_error = error, t->its_expected = *d;
}

static void merge(tally *into, const tally *t) {
    into->compared += t->compared;
    into->unpromised |= t->unpromised;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        into->misrounded[s] += t->misrounded[s];
        if (t->error[s] > into->error[s] ||
            (t->error[s] == into->error[s] && t->bound[s] > into->bound[s]))
            into->error[s] = t->error[s], into->bound[s] = t->bound[s];
    }
    if (t->worst <= into->worst) return;
    into->worst = t->worst;
    into->arg = t->arg, into->index = t->index, into->got = t->got;
    into->its_error = t->its_error, into->its_expected = t->its_expected;
}

typedef struct job {
    const expectations *expectations;
    const plain *plain; /* plain parts of these numbers, or NULL */
    nl_arg s;
    tally *total;
} job;

/* Does the plain part show that number i is right, or that it has no bound? floor: the group's
 * floor. False if the error may be the largest, because the tally then needs its expected value. */
static bool check_plain(const job *k, size_t i, double got, double floor, tally *t) {
    const nl_dtype type = k->expectations->in->c->problem.dtype;
    const plain *it = &k->plain[i];
    const bool same = got == it->want || (isnan(got) && isnan(it->want));
    const double error = same ? 0 : fabs(got - it->want) * it->per_unit;
    const bool smaller = error * (1 + 1e-6) < t->error[k->s] || (error == 0 && t->bound[k->s] > 0);
    if (!(it->per_unit > 0 && smaller)) return false;
    if (floor >= 0 && !same && !expected_near(type, it, floor, got, error)) return false;
    t->compared++;
    if (floor < 0) t->unpromised = true;
    return true;
}

static void check_numbers(void *context, size_t begin, size_t end) {
    const job *k = context;
    const void *got = k->expectations->in->at[k->s];
    tally t = {.worst = -1};
    const nl_problem *p = &k->expectations->in->c->problem;
    const nl_places at = nl_places_of(p, k->s);
    const size_t run = nl_layers[p->op].by_channel ? p->s : p->c; /* numbers of one group */
    double floor = -1;
    for (size_t i = begin, edge = begin; i < end; i++) {
        if (k->plain && i == edge) {
            edge += run - i % run;
            floor = expected_floor(k->expectations, k->s, nl_group_of(p, i));
        }
        if (k->plain && check_plain(k, i, nl_load(p->dtype, got, nl_place(at, i)), floor, &t))
            continue;
        const expected_value d = expected_at(k->expectations, k->s, i);
        check(&t, k->s, i, nl_load(d.dtype, got, nl_place(at, i)), &d);
    }
#ifdef _OPENMP
#pragma omp critical
#endif
    merge(k->total, &t);
}

/* A call with n = 0 must not write anything. */
static verdict check_untouched(const instance *in) {
    verdict v = {.outcome = OUTCOME_OK, .compared = 1}; /* counts the call's status */
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        const unsigned char *bytes = in->at[s], *before = in->data->input[s];
        for (size_t i = 0; bytes && i < in->data->bytes[s]; i++, v.compared++)
            if (bytes[i] != (before ? before[i] : in->unset))
                return failure("n is 0, but %s was written", nl_args[s].name);
    }
    return v;
}

/* Are the bytes between the rows of an output unchanged? */
static bool keeps_gaps(const instance *in, nl_arg s) {
    const nl_problem *p = &in->c->problem;
    const nl_places at = nl_places_of(p, s);
    const size_t size = nl_dtype_size(p->dtype), all = in->data->bytes[s];
    const char *bytes = in->at[s], *before = in->data->input[s];
    if (at.packed) return true;
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (in->c->in_place & NL_BIT(a) && case_output_over(in->c, a) == s)
            before = in->data->input[a];
    char *right = malloc(all); /* the old contents, with the new rows */
    if (!right) return false;
    before ? memcpy(right, before, all) : memset(right, in->unset, all);
    for (size_t i = 0; i < p->n * p->c; i += p->c) {
        const size_t row = nl_place(at, i) * size;
        memcpy(right + row, bytes + row, p->c * size);
    }
    const bool kept = memcmp(right, bytes, all) == 0;
    return free(right), kept;
}

static void describe_worst(const nl_problem *p, const tally *t, verdict *v) {
    const bound b = t->its_expected.allowed;
    char more[120] = "";
    v->outcome = OUTCOME_FAIL;
    if (t->its_error <= b.probable)
        snprintf(more, sizeof more,
                 ", but no float near the right number rounds to it (%zu of %zu numbers)",
                 t->misrounded[t->arg], expected_count(p, t->arg));
    else if (t->its_error <= b.certain)
        snprintf(more, sizeof more, " by the probable bound, %.4g by the certain one", b.certain);
    char off[64] = ""; /* empty if one is NaN and the other is not */
    if (isfinite(t->its_error))
        snprintf(off, sizeof off, ": off by %.4g units of %.4g allowed", t->its_error, b.probable);
    char name[64];
    expected_name(p, t->arg, t->index, name, sizeof name);
    snprintf(v->why, sizeof v->why, "%s is %.9g, should be %.9g%s%s", name, unsigned_nan(t->got),
             unsigned_nan((double)t->its_expected.low), off, more);
}

verdict outputs_check(const instance *in, const answer *a) {
    const nl_problem *p = &in->c->problem;
    if (in->impl && (in->impl->lanes < 1 || in->impl->lanes > LANES_MAX))
        return failure(".lanes should be from %s: no other number has a bound", "1 to 256");
    if (p->n == 0) return check_untouched(in);
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (in->at[s] && in->data->input[s] && !instance_consumes(in, s) &&
            memcmp(in->at[s], in->data->input[s], in->data->bytes[s]) != 0)
            return failure("the input %s was modified", nl_args[s].name);
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (expected_has(in, s) && nl_args[s].extent == NL_TENSOR && !keeps_gaps(in, s))
            return failure("%s was written between its rows", nl_arg_name(s, p->pass));

    expectations d;
    if (!expectations_make(in, &a->want, &d)) return failure("out of %s", "memory");
    tally total = {.worst = -1};
    const nl_arg most = p->pass == NL_BACKWARD ? NL_DX : NL_Y;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        job k = {&d, s == most ? a->plain : s == NL_RESIDUAL_OUT ? a->sums : NULL, s, &total};
        if (expected_has(in, s))
            nl_parallel_for(expected_count(p, s), data_threads(p), check_numbers, &k);
    }
    expectations_free(&d);

    if (total.compared == 0) return failure("%s", "nothing was compared");
    verdict v = {.outcome = total.unpromised ? OUTCOME_DEMO : OUTCOME_OK,
                 .error_u = total.error[most],
                 .bound_u = total.bound[most],
                 .compared = total.compared};
    for (nl_arg s = 0; s < NL_ARGS; s++) v.largest[s] = total.bound[s] > 0 ? total.error[s] : NAN;
    if (total.worst < 2) return v;
    describe_worst(p, &total, &v);
    return v;
}
