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
        const long double shift = r->mean_saved == WHOLE || r->mean_saved == RUNNING_MEAN ? 0
                                  : r->mean_saved == UNSHIFTED
                                      ? formula_input(s, r, nl_element(p, g, 0))
                                      : w->mean[g];
        const bool taken = r->mean_saved == RUNNING_MEAN && s->in->running_mean;
        const long double kept = taken ? (1 - weight) * s->in->running_mean[g] + weight * w->mean[g]
                                 : r->mean_saved == ITS_SHIFT
                                     ? formula_input(s, r, nl_element(p, g, 0))
                                     : w->mean[g] - shift;
        if (r->saved == EXCHANGED) {
            formula_put(w, NL_MEAN, g, rstd);
            formula_put(w, NL_RSTD, g, kept);
        } else {
            formula_put_either(w, NL_MEAN, g, kept,
                               r->stale || r->rounds ? s->want->mean[g] : kept);
            formula_put_either(w, NL_RSTD, g, r->rstd_power == 2 ? rstd * rstd : rstd,
                               r->stale || r->rounds ? s->want->rstd[g] : rstd);
        }
        if (!s->in->running_mean || !w->of[NL_RUNNING_MEAN].value) continue;
        const float mean = s->in->running_mean[g], var = s->in->running_var[g];
        const long double fresh =
            (biased ? v : v * m / (m - 1)) + (r->running & WITH_EPS ? r->eps : 0);
        const long double once = r->running & OLD ? 0 : weight;
        const long double by = r->running & UPDATED_TWICE ? once * (2 - once) : once;
        formula_put(w, NL_RUNNING_MEAN, g, (1 - by) * mean + by * w->mean[g]);
        formula_put(w, NL_RUNNING_VAR, g, (1 - by) * var + by * fresh);
    }
}

/* Returns y[i] before the store. */
static long double value_at(const workspace *w, const formula *r, size_t i, size_t x,
                            size_t of_gamma, size_t of_beta) {
    const subject *s = w->s;
    const float *beta = r->affine_swapped         ? s->in->gamma
                        : r->beta == BETA_IGNORED ? NULL
                                                  : s->in->beta;
    const long double shift =
        beta ? formula_rounded(r, A_BETA, beta[formula_feature(s, r, of_beta)]) : 0;
    const long double gain = formula_gain_at(s, r, formula_feature(s, r, of_gamma));
    if (r->rounds & (A_SCALE | A_FOLD)) {
        const size_t g = formula_group(s, r, x);
        const long double mean = r->centred || r->inference ? w->mean[g] : 0;
        const long double scale = formula_rounded(r, A_SCALE | A_FOLD, gain * w->rstd[g]);
        if (r->rounds & A_SCALE) return (formula_input(s, r, x) - mean) * scale + shift;
        return formula_input(s, r, x) * scale +
               formula_rounded(r, A_FOLD, shift - mean * gain * w->rstd[g]);
    }
    long double v = formula_normalized(w, r, x);
    if (r->output == COPIED) return s->in->gate ? s->in->x[i] : formula_input(s, r, i);
    v = r->beta == BETA_FIRST ? (v + shift) * gain
                              : formula_rounded(r, STEPS | A_PRODUCT, v * gain) + shift;
    const bool again = r->residual == LAST || r->residual == ALSO_LAST;
    return again && s->in->residual ? v + s->in->residual[i] : v;
}

void formula_forward(workspace *w, const formula *r) {
    const subject *s = w->s;
    formula right = formula_right(s), own = *r;
    const size_t row = s->p->c * s->p->s;
    for (size_t i = w->from; i < w->to; i++) {
        if (r->step_of_row && i % row == 0) {
            own.step = 0;
            for (size_t k = i; k < i + row; k++) own.step = fmaxl(own.step, fabs(s->got[NL_Y][k]));
            own.step = own.step > 0 ? own.step / 127 : 1;
        }
        const ptrdiff_t x = formula_from(s, r, OF_X, i), of_gamma = formula_from(s, r, OF_GAMMA, i),
                        of_beta = formula_from(s, r, OF_BETA, i);
        const size_t of_gate = (size_t)formula_from(s, r, OF_GATE, i);
        if (s->in->residual)
            formula_put_either(w, NL_RESIDUAL_OUT, i,
                               r->x_as_sum ? s->in->x[i] : formula_input(s, &right, i),
                               r->x_as_sum ? s->in->x[i] : formula_input(s, r, i));
        if (x < 0 || of_gamma < 0 || of_beta < 0 || (r->stale && formula_group(s, r, i) == 0))
            formula_put_any(w, NL_Y, i);
        else
            formula_store(w, &own, i,
                          value_at(w, r, i, (size_t)x, (size_t)of_gamma, (size_t)of_beta) *
                              (r->output == COPIED ? 1 : formula_gate(s, r, false, of_gate)));
    }
    if (w->to - w->from == w->count) saved_statistics(w, r);
}
