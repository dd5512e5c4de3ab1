/* SPDX-License-Identifier: MIT */
#include "judge/score.h"

#include <math.h>
#include <stdlib.h>

/* Counts an element of y or dx with error e. */
static void add_element(const subject *s, score *c, size_t *finite, size_t i, double e,
                        const expected_value *d) {
    const size_t g = nl_group_of(s->p, i);
    const double got = s->got[subject_tensor(s)][i];
    const long double best = ref_round(d->dtype, d->want);
    c->exact += ref_round(d->dtype, got) == best || (isnan(got) && isnan(best));
    if (isfinite(e))
        c->rms += e * e, c->group_rms[g] += e * e, finite[g]++;
    else
        c->not_finite++;
}

bool score_make(const subject *s, score *c) {
    const nl_arg tensor = subject_tensor(s);
    size_t groups = c->groups = ref_groups(s->p), *finite = calloc(groups, sizeof *finite);
    bool *beyond = calloc(groups, sizeof *beyond);
    c->kappa = calloc(groups, 3 * sizeof *c->kappa);
    if (!finite || !beyond || !c->kappa) return free(finite), free(beyond), false;
    c->group_rms = c->kappa + groups, c->group_rest = c->group_rms + groups;
    c->count = s->p->n * s->p->c * s->p->s, c->promised = s->expectations->promised;
    for (size_t g = 0; g < groups; g++) c->kappa[g] = s->expectations->allowed[g].kappa;
    int level = -1; /* rank of the worst number: 2 beyond its bound, 1 within, 0 without a bound */
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        c->of[o].count = s->got[o] ? expected_count(s->p, o) : 0;
        for (size_t i = 0; i < c->of[o].count; i++) {
            const expected_value d = expected_at(s->expectations, o, i);
            const double e = error_units(d.dtype, s->got[o][i], d.low, d.high, d.scale);
            const int its_level = !d.promised ? 0 : e <= d.allowed.probable ? 1 : 2;
            c->judged += d.promised;
            c->largest = fmax(c->largest, e), c->of[o].largest = fmax(c->of[o].largest, e);
            if (its_level == 2) c->beyond++, c->of[o].beyond++;
            if (its_level == 2 && e > d.allowed.certain) c->certain++;
            if (o == tensor) {
                add_element(s, c, finite, i, e, &d);
                if (its_level == 2) beyond[nl_group_of(s->p, i)] = true;
            }
            if (its_level < level || (its_level == level && e <= c->its_error)) continue;
            level = its_level, c->worst_of = o, c->worst = i;
            c->its_error = e, c->its_bound = d.allowed.probable;
        }
    }
    for (size_t g = 0; g < groups; g++) {
        c->groups_beyond += beyond[g];
        c->group_rms[g] = finite[g] ? sqrt(c->group_rms[g] / (double)finite[g]) : INFINITY;
    }
    const size_t numbers = c->count - c->not_finite;
    c->rms = numbers ? sqrt(c->rms / (double)numbers) : INFINITY;
    return free(finite), free(beyond), true;
}
