/* SPDX-License-Identifier: MIT */
#include "judge/formula.h"

#include <math.h>

static void saved_statistics(workspace *w, const formula *r) {
    const subject *s = w->s;
    const nl_problem *p = s->p;
    const long double m = (long double)nl_group_size(p);
    const long double weight = r->running & SWAPPED ? 1 - (long double)p->momentum : p->momentum;
    const bool biased = p->biased_running_var != !!(r->running & OTHER_BIAS);
    for (size_t g = 0; g < nl_group_count(p); g++) {
        if (r->axis != GROUPS) {
            for (nl_arg o = NL_MEAN; o <= NL_RUNNING_VAR; o++) formula_put_any(w, o, g);
            continue;
        }
        const long double v = w->g[g], sigma = sqrtl(v + r->eps);
        const long double rstd = r->saved == SIGMA ? sigma : r->saved == VARIANCE ? v : w->rstd[g];
        const long double shift =
            r->mean_unshifted ? formula_input(s, SUMMED, nl_element(p, g, 0)) : 0;
        const long double kept = w->mean[g] - shift;
        if (r->saved == EXCHANGED) {
            formula_put(w, NL_MEAN, g, rstd);
            formula_put(w, NL_RSTD, g, kept);
        } else {
            formula_put_either(w, NL_MEAN, g, kept, r->stale ? s->want->mean[g] : kept);
            formula_put_either(w, NL_RSTD, g, rstd,
                               r->stale || r->rstd_rounded ? s->want->rstd[g] : rstd);
        }
        if (!s->in->running_mean || !w->of[NL_RUNNING_MEAN].value) continue;
        const float mean = s->in->running_mean[g], var = s->in->running_var[g];
        const long double fresh = biased ? v : v * m / (m - 1);
        const bool old = r->running & OLD;
        formula_put(w, NL_RUNNING_MEAN, g, old ? mean : (1 - weight) * mean + weight * w->mean[g]);
        formula_put(w, NL_RUNNING_VAR, g, old ? var : (1 - weight) * var + weight * fresh);
    }
}

/* The neighbour of v in t that is not beyond it. */
static long double towards_zero(nl_dtype t, long double v) {
    const long double near = ref_round(t, v);
    return fabsl(near) <= fabsl(v) ? near : ref_round(t, near * (1 - 1.25L * ref_unit(t)));
}

void formula_forward(workspace *w, const formula *r) {
    const subject *s = w->s;
    for (size_t i = 0; i < w->count; i++) {
        const ptrdiff_t x = formula_from(s, r, OF_X, i), of_gamma = formula_from(s, r, OF_GAMMA, i),
                        of_beta = formula_from(s, r, OF_BETA, i);
        if (s->in->residual)
            formula_put_either(w, NL_RESIDUAL_OUT, i,
                               r->x_as_sum ? s->in->x[i] : formula_input(s, SUMMED, i),
                               formula_input(s, r->x_as_sum ? IGNORED : r->residual, i));
        if (x < 0 || of_gamma < 0 || of_beta < 0 || (r->stale && formula_group(s, r, i) == 0)) {
            formula_put_any(w, NL_Y, i);
            continue;
        }
        const float *beta = r->beta == BETA_IGNORED ? NULL : s->in->beta;
        const long double shift = beta ? beta[nl_feature_of(s->p, (size_t)of_beta)] : 0;
        const long double gain = formula_gain_at(s, r, nl_feature_of(s->p, (size_t)of_gamma));
        long double v = formula_normalized(w, r, (size_t)x);
        v = r->beta == BETA_FIRST ? (v + shift) * gain : v * gain + shift;
        if (r->residual == LAST && s->in->residual) v += s->in->residual[i];
        v = v * r->factor + r->offset;
        if (r->truncated) v = towards_zero(s->p->dtype, v);
        formula_put(w, NL_Y, i, r->rounded ? ref_round((nl_dtype)(r->rounded - 1), v) : v);
    }
    saved_statistics(w, r);
}
