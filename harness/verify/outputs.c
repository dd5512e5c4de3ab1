/* Compares outputs. One unit is the rounding error of the storage type, 2^-24, 2^-11 or 2^-8, times
 * the gauge of the number: the size of the terms of its sum. Ulps of the result would mean nothing
 * where it is near zero. SPDX-License-Identifier: MIT */
#include "verify/outputs.h"
#include "dtype.h"
#include "parallel.h"
#include "verify/bound.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result of all comparisons so far. */
typedef struct tally {
    size_t compared;
    double error[NL_ARGS], bound[NL_ARGS]; /* the largest of each output */
    double worst; /* the largest error / bound of a promised number; the rest is about it */
    bool unpromised;
    nl_arg arg;
    size_t index;
    double got, want, its_error;
    bound its_bound;
} tally;

const char *outcome_name(outcome o) {
    static const char *const names[] = {"ok", "fail", "demo", "skip"};
    return names[o];
}

verdict failure(const char *format, const char *what) {
    verdict v = {.outcome = OUTCOME_FAIL, .error_u = INFINITY};
    snprintf(v.why, sizeof v.why, format, what);
    return v;
}

double error_units(nl_dtype d, double got, long double low, long double high, long double gauge) {
    long double unit = ref_unit(d), too_large = ref_largest(d) * (1 + unit);
    if (isnan(low) || isnan(got)) return isnan(low) && isnan(got) ? 0 : INFINITY;
    if (isinf(got) && copysignl(1, low) == copysign(1, got) && fabsl(low) >= too_large)
        return 0; /* the right value overflows this storage type, or is infinite itself */
    long double v = isinf(got) ? copysignl(too_large, got) : (long double)got;
    long double miss = v < low ? low - v : v > high ? v - high : 0;
    double error = (double)(miss / (unit * fmaxl(gauge, ref_smallest_normal(d))));
    return isnan(error) ? INFINITY : error;
}

static void check(tally *t, nl_arg s, size_t i, nl_dtype d, float got, long double low,
                  long double high, long double gauge, bound allowed, bool promised) {
    double error = error_units(d, got, low, high, gauge), most = allowed.probable;
    t->compared++;
    if (!(error < t->error[s])) t->error[s] = error, t->bound[s] = most;
    if (!promised) {
        t->unpromised = true;
        return;
    }
    double ratio = error <= most ? error / (most > 0 ? most : 1) : 2 + error;
    if (ratio <= t->worst) return;
    t->worst = ratio;
    t->arg = s, t->index = i, t->got = got, t->want = (double)low;
    t->its_error = error, t->its_bound = allowed;
}

static bound just(double units) {
    return (bound){units, units};
}

/* more + times * b */
static bound scaled(double more, double times, bound b) {
    return (bound){more + times * b.probable, more + times * b.certain};
}

static void merge(tally *into, const tally *t) {
    into->compared += t->compared;
    into->unpromised |= t->unpromised;
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (t->error[s] > into->error[s] ||
            (t->error[s] == into->error[s] && t->bound[s] > into->bound[s]))
            into->error[s] = t->error[s], into->bound[s] = t->bound[s];
    if (t->worst <= into->worst) return;
    into->worst = t->worst;
    into->arg = t->arg, into->index = t->index, into->got = t->got, into->want = t->want;
    into->its_error = t->its_error, into->its_bound = t->its_bound;
}

typedef struct job {
    const instance *in;
    const ref_outputs *want;
    const allowance *allowed;
    tally *total;
} job;

/* y, residual_out and dx, elements begin to end - 1. */
static void check_tensors(void *context, size_t begin, size_t end) {
    const job *k = context;
    const instance *in = k->in;
    const nl_problem *p = &in->c->problem;
    const ref_outputs *w = k->want;
    const float *gamma = in->data->input[NL_GAMMA], *beta = in->data->input[NL_BETA];
    nl_dtype d = p->dtype;
    double ratio = (double)(ref_unit(NL_F32) / ref_unit(d));
    bool cast = p->casting == NL_CAST_BEFORE_WEIGHT && d != NL_F32;
    tally t = {.worst = -1};
    for (size_t i = begin; i < end; i++) {
        size_t j = nl_feature_of(p, i), g = nl_group_of(p, i);
        allowance a = k->allowed[g];
        if (in->at[NL_Y] && p->pass != NL_BACKWARD) {
            long double gain = ref_gain(p, gamma, j), shift = beta ? beta[j] : 0;
            long double x = w->xhat[i], low = gain * x + shift, high = low;
            bound allowed = scaled(1, ratio, a.units);
            if (cast) { /* near a tie xhat may be rounded up or down */
                long double off = a.units.probable * 0x1p-24L * fmaxl(1, fabsl(x));
                long double one = gain * ref_round(d, x - off) + shift;
                long double two = gain * ref_round(d, x + off) + shift;
                low = fminl(one, two), high = fmaxl(one, two);
                allowed = just(1 + 3 * ratio);
            }
            long double gauge = fabsl(gain) * fmaxl(1, fabsl(x)) + fabsl(shift);
            check(&t, NL_Y, i, d, nl_load(d, in->at[NL_Y], i), low, high, gauge, allowed,
                  a.promised);
        }
        if (in->at[NL_RESIDUAL_OUT]) {
            long double sum = w->sum[i];
            check(&t, NL_RESIDUAL_OUT, i, d, nl_load(d, in->at[NL_RESIDUAL_OUT], i), sum, sum,
                  fabsl(sum), just(d == NL_F32 ? 1 : 1 + 2 * ratio), true);
        }
        if (in->at[NL_DX] && p->pass == NL_BACKWARD)
            check(&t, NL_DX, i, d, nl_load(d, in->at[NL_DX], i), w->dx[i], w->dx[i], w->dx_gauge[i],
                  scaled(1, ratio, a.units), a.promised);
    }
#ifdef _OPENMP
#pragma omp critical
#endif
    merge(k->total, &t);
}

/* Compares element i of a vector of floats. Accepts any Inf or NaN for another: the mean of a group
 * with an Inf may be either. */
static void check_vector(tally *t, const instance *in, nl_arg s, size_t i, long double want,
                         long double gauge, bound allowed, bool promised) {
    float got = ((const float *)in->at[s])[i];
    if (!isfinite(want) && !isfinite(got)) want = got;
    check(t, s, i, NL_F32, got, want, want, gauge, allowed, promised);
}

static void check_vectors(tally *t, const instance *in, const ref_outputs *w,
                          const allowance *allowed) {
    const nl_problem *p = &in->c->problem;
    size_t m = nl_group_size(p);
    double worst = 0;
    bool forward = p->pass == NL_FORWARD, all = true;
    for (size_t g = 0; g < ref_groups(p); g++) {
        allowance a = allowed[g];
        worst = fmax(worst, a.kappa);
        all = all && a.promised;
        if (!forward) continue;
        if (in->at[NL_MEAN])
            check_vector(t, in, NL_MEAN, g, w->mean[g], w->magnitude[g],
                         exact_expected(in) ? just(0) : scaled(4, 2, a.sum), a.promised);
        if (in->at[NL_RSTD])
            check_vector(t, in, NL_RSTD, g, w->rstd[g], w->rstd[g], scaled(1, 1, a.rstd),
                         a.promised);
        if (!in->at[NL_RUNNING_MEAN]) continue;
        const float *mean = in->data->input[NL_RUNNING_MEAN],
                    *var = in->data->input[NL_RUNNING_VAR];
        long double momentum = p->momentum, more = m > 1 ? m / (m - 1.0L) : 1;
        long double moved = momentum * more * (w->var[g] + p->eps);
        check_vector(t, in, NL_RUNNING_MEAN, g, w->running_mean[g],
                     fabsl(mean[g]) + momentum * w->magnitude[g], scaled(8, 2, a.sum), a.promised);
        check_vector(t, in, NL_RUNNING_VAR, g, w->running_var[g], fabsl(var[g]) + moved,
                     scaled(8, 2, a.rstd), a.promised);
    }
    for (size_t j = 0; p->pass == NL_BACKWARD && j < p->c; j++) {
        if (in->at[NL_DGAMMA])
            check_vector(t, in, NL_DGAMMA, j, w->dgamma[j], w->dgamma_gauge[j],
                         scaled(8 + 2 * worst, 1, allow_column(in, w, NL_DGAMMA, j)), all);
        if (in->at[NL_DBETA])
            check_vector(t, in, NL_DBETA, j, w->dbeta[j], w->dbeta_gauge[j],
                         scaled(2, 1, allow_column(in, w, NL_DBETA, j)), true);
    }
}

/* A call with n = 0 must not write anything. */
static verdict check_untouched(const instance *in) {
    verdict v = {.outcome = OUTCOME_OK, .compared = 1}; /* the call's status */
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        const unsigned char *bytes = in->at[s], *before = in->data->input[s];
        for (size_t i = 0; bytes && i < in->data->bytes[s]; i++, v.compared++)
            if (bytes[i] != (before ? before[i] : 0xff))
                return failure("n is 0, but %s was written", nl_args[s].name);
    }
    return v;
}

verdict outputs_check(const instance *in, const answer *a) {
    const nl_problem *p = &in->c->problem;
    size_t groups = ref_groups(p);
    if (in->impl && (in->impl->lanes < 1 || in->impl->lanes > LANES_MAX))
        return failure(".lanes is not from %s: the bound is for sums in so many", "1 to 256");
    if (p->n == 0) return check_untouched(in);
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (in->at[s] && in->data->input[s] && !instance_consumes(in, s) &&
            memcmp(in->at[s], in->data->input[s], in->data->bytes[s]) != 0)
            return failure("the input %s was modified", nl_args[s].name);

    allowance *allowed = malloc((groups + 1) * sizeof *allowed);
    if (!allowed) return failure("out of %s", "memory");
    for (size_t g = 0; g < groups; g++) allowed[g] = allow(in, &a->want, g);
    tally total = {.worst = -1};
    job k = {.in = in, .want = &a->want, .allowed = allowed, .total = &total};
    nl_parallel_for(p->n * p->c * p->s, data_threads(p), check_tensors, &k);
    check_vectors(&total, in, &a->want, allowed);
    free(allowed);

    if (total.compared == 0) return failure("%s", "nothing was compared");
    const nl_arg most = p->pass == NL_BACKWARD ? NL_DX : NL_Y;
    verdict v = {.outcome = total.unpromised ? OUTCOME_DEMO : OUTCOME_OK,
                 .error_u = total.error[most],
                 .bound_u = total.bound[most],
                 .compared = total.compared};
    for (nl_arg s = 0; s < NL_ARGS; s++) v.largest[s] = total.bound[s] > 0 ? total.error[s] : NAN;
    if (total.worst < 2) return v;
    v.outcome = OUTCOME_FAIL;
    const bound b = total.its_bound;
    char certain[80] = "";
    if (total.its_error <= b.certain)
        snprintf(certain, sizeof certain, " by the probable bound, %.4g by the certain one",
                 b.certain);
    snprintf(v.why, sizeof v.why,
             "%s[%zu] is %.9g, should be %.9g: off by %.4g units of %.4g allowed%s",
             nl_args[total.arg].name, total.index, total.got, total.want, total.its_error,
             b.probable, certain);
    return v;
}
