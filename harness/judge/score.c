/* SPDX-License-Identifier: MIT */
#include "judge/score.h"
#include "verify/bound.h"

#include <math.h>
#include <stdlib.h>

/* The error of element i, in units. Where a cast may round either way, an interval is right. */
static double element_error(const subject *s, size_t i, const allowance *a, double *bound,
                            double *certain, bool *exact) {
    const nl_problem *p = s->p;
    size_t j = nl_feature_of(p, i);
    long double gain = ref_gain(p, s->in->gamma, j), beta = s->in->beta ? s->in->beta[j] : 0;
    long double x = s->want->xhat[i], low = gain * x + beta, high = low, once = low;
    double ratio = (double)(ref_unit(NL_F32) / ref_unit(p->dtype));
    *bound = 1 + a->units.probable * ratio;
    *certain = 1 + a->units.certain * ratio;
    if (p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32) {
        long double near = a->units.probable * 0x1p-24L * fmaxl(1, fabsl(x));
        long double one = gain * ref_round(p->dtype, x - near) + beta;
        long double two = gain * ref_round(p->dtype, x + near) + beta;
        low = fminl(one, two), high = fmaxl(one, two);
        once = gain * ref_round(p->dtype, x) + beta;
        *bound = *certain = 1 + 3 * ratio;
    }
    long double best = ref_round(p->dtype, once);
    *exact = ref_round(p->dtype, s->y[i]) == best || (isnan(s->y[i]) && isnan(best));
    return subject_units(s, i, s->y[i], low, high);
}

bool score_make(const subject *s, score *c) {
    const nl_problem *p = s->p;
    nl_case as_case = {.problem = *p, .residual = s->in->residual != NULL};
    instance as_instance = {.c = &as_case}; /* no impl: the bound of two-pass, one accumulator */
    size_t groups = c->groups = ref_groups(p), *finite = calloc(groups, sizeof *finite);
    allowance *allowed = malloc(groups * sizeof *allowed);
    bool *beyond = calloc(groups, sizeof *beyond);
    c->kappa = calloc(groups, 3 * sizeof *c->kappa);
    if (!finite || !allowed || !beyond || !c->kappa)
        return free(finite), free(allowed), free(beyond), false;
    c->group_rms = c->kappa + groups, c->group_rest = c->group_rms + groups,
    c->count = p->n * p->c * p->s;
    for (size_t g = 0; g < groups; g++) {
        allowed[g] = allow(&as_instance, s->want, g);
        c->kappa[g] = allowed[g].kappa, c->promised += allowed[g].promised;
    }
    int level = -1; /* of the worst: 2 beyond its bound, 1 within, 0 without a bound */
    double squares = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t g = nl_group_of(p, i);
        bool exact, promised = allowed[g].promised;
        double bound, certain, e = element_error(s, i, &allowed[g], &bound, &certain, &exact);
        int its_level = !promised ? 0 : e <= bound ? 1 : 2;
        c->exact += exact, c->judged += promised;
        c->largest = fmax(c->largest, e);
        if (its_level == 2) c->beyond++, beyond[g] = true;
        if (its_level == 2 && e > certain) c->certain++;
        if (isfinite(e))
            squares += e * e, c->group_rms[g] += e * e, finite[g]++;
        else
            c->not_finite++;
        if (its_level < level || (its_level == level && e <= c->its_error)) continue;
        level = its_level, c->worst = i, c->its_error = e, c->its_bound = bound;
    }
    for (size_t g = 0; g < groups; g++) {
        c->groups_beyond += beyond[g];
        c->group_rms[g] = finite[g] ? sqrt(c->group_rms[g] / (double)finite[g]) : INFINITY;
    }
    size_t numbers = c->count - c->not_finite;
    c->rms = numbers ? sqrt(squares / (double)numbers) : INFINITY;
    return free(finite), free(allowed), free(beyond), true;
}
