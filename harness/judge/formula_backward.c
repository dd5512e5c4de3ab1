/* SPDX-License-Identifier: MIT */
#include "judge/formula.h"

#include <stdint.h>
#include <string.h>

/* What the mistake takes for xhat. */
static long double operand(const workspace *w, const formula *r, int of, size_t i) {
    const long double x = w->s->in->x[i], mean = w->mean[formula_group(w->s, r, i)];
    return of == XHAT ? formula_normalized(w, r, i) : of == RAW_X ? x : x - mean;
}

static void parameter_gradients(workspace *w, const formula *r) {
    const subject *s = w->s;
    const nl_problem *p = s->p;
    const nl_arg to[] = {r->gradients_swapped ? NL_DBETA : NL_DGAMMA,
                         r->gradients_swapped ? NL_DGAMMA : NL_DBETA};
    for (int k = 0; k < 2; k++) {
        double *sum = w->of[to[k]].value;
        for (size_t j = 0; sum && j < p->c; j++) sum[j] = 0;
        for (size_t i = 0; sum && i < w->count; i++) {
            const size_t j = nl_feature_of(p, i), row = i / (p->c * p->s);
            const long double gain =
                r->gradients_gained & (k ? OF_BETA : OF_GAMMA) ? formula_gain_at(s, r, j) : 1;
            if (row < r->row || row >= r->rows_end) continue;
            sum[j] += (double)(gain * s->in->dy[i] * (k ? 1 : operand(w, r, r->dgamma_of, i)));
        }
        for (size_t j = 0; sum && j < p->c && r->gradients_averaged; j++)
            sum[j] /= (double)(p->n * p->s);
    }
    for (nl_arg o = NL_DGAMMA; o <= NL_DBETA; o++) {
        double *v = w->of[o].value;
        const size_t c = v ? p->c : 0;
        if (c && r->shifted & OF_GRADIENTS) {
            memmove(v + !!(r->shifted & BACK), v + !(r->shifted & BACK), (c - 1) * sizeof *v);
            formula_put_any(w, o, r->shifted & BACK ? 0 : c - 1);
        }
        const long double *right = o == NL_DGAMMA ? s->want->dgamma : s->want->dbeta;
        const bool either = r->row || r->rows_end != SIZE_MAX || r->gradients_averaged;
        for (size_t j = 0; j < c; j++) formula_put_either(w, o, j, v[j], either ? right[j] : v[j]);
    }
}

void formula_backward(workspace *w, const formula *r) {
    const subject *s = w->s;
    const size_t groups = formula_groups(s, r);
    const long double m = (long double)w->count / (long double)(groups ? groups : 1);
    for (size_t g = 0; g < groups; g++) w->g[g] = w->gx[g] = 0;
    for (int pass = 0; pass < 2; pass++) { /* the sums, then dx */
        if (pass) formula_carry(r, groups, m, w->g), formula_carry(r, groups, m, w->gx);
        for (size_t i = 0; i < w->count; i++) {
            const size_t g = formula_group(s, r, i);
            const ptrdiff_t from = formula_from(s, r, OF_GAMMA, i);
            const long double gain =
                formula_gain_at(s, r, nl_feature_of(s->p, from < 0 ? i : (size_t)from));
            const long double dy = s->in->dy[i], xhat = operand(w, r, r->dx_of, i);
            if (pass == 0) {
                if (!formula_is_summed(w, r, i)) continue;
                const long double v = r->gain_in == IN_BRACKET ? gain * dy : dy;
                w->g[g] += v / formula_divisor(r, OF_G, m),
                    w->gx[g] += v * xhat / formula_divisor(r, OF_GX, m);
                continue;
            }
            long double v = r->gain_in == OUT_OF_BRACKET ? dy : gain * dy;
            if (r->mean_g) v -= w->g[g];
            if (r->mean_gx) v -= w->gx[g] * (r->mean_gx == TERM_WITHOUT_XHAT ? 1 : xhat);
            if (!r->no_rstd) v *= w->rstd[g];
            if (r->gain_in == OUT_OF_BRACKET) v *= gain;
            if (s->in->dresidual && r->residual != IGNORED)
                v = (r->residual == ROUNDED ? ref_round(s->p->dtype, v) : v) + s->in->dresidual[i];
            if (from < 0 || (r->stale && g == 0))
                formula_put_any(w, NL_DX, i);
            else
                formula_put(w, NL_DX, i, v * r->factor + r->offset);
        }
    }
    parameter_gradients(w, r);
}
