/* SPDX-License-Identifier: MIT */
#include "judge/formula.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Returns the value that the mistake uses for xhat in this place. */
static long double operand(const workspace *w, const formula *r, int place, size_t i) {
    const int of = r->operand & place ? r->operand & 7 : XHAT;
    if (of == XHAT) return formula_normalized(w, r, i);
    const long double x = formula_input(w->s, r, i), mean = w->mean[formula_group(w->s, r, i)];
    if (of == X_PLUS_MEAN) return (x + mean) * w->rstd[formula_group(w->s, r, i)];
    if (of == Y_FOR_X) {
        const size_t j = formula_feature(w->s, r, i);
        const long double gates = formula_gate(w->s, r, false, i) * formula_gate(w->s, r, true, i);
        const long double y = formula_gain_at(w->s, r, j) * w->s->want->xhat[i] * gates +
                              (w->s->in->beta ? w->s->in->beta[j] : 0);
        return (y - (r->centred ? mean : 0)) * w->rstd[formula_group(w->s, r, i)];
    }
    if (of == SCALED_X) return x * w->rstd[formula_group(w->s, r, i)];
    return of == RAW_X ? x : x - mean;
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
            const size_t j = formula_feature(s, r, i), row = i / (p->c * p->s);
            const long double gain =
                r->gradients_gained & (k ? OF_BETA : OF_GAMMA) ? formula_gain_at(s, r, j) : 1;
            const bool inside = row >= r->row && row < r->rows_end;
            if (!inside && !r->rows_out) continue;
            long double term = gain * formula_dy(s, r, i) * (k ? 1 : operand(w, r, IN_DGAMMA, i));
            if (inside && r->rows_out) term *= r->rows_out - 1;
            if (r->products_in && !k) term = ref_round((nl_dtype)(r->products_in - 1), term);
            const bool narrow = r->gradients_in &&
                                (!r->gradients_of || r->gradients_of == (k ? OF_BETA : OF_GAMMA));
            const nl_dtype in = (nl_dtype)(r->gradients_in - 1);
            sum[j] = narrow ? (double)ref_round(in, sum[j] + term) : sum[j] + (double)term;
        }
        for (size_t j = 0; sum && j < p->c; j++) {
            if (r->gradients_averaged) sum[j] /= (double)(p->n * p->s);
            sum[j] = (double)formula_rounded(r, k ? A_DBETA | STEPS : A_DGAMMA | STEPS, sum[j]);
            if (r->output == COPIED) formula_put_any(w, to[k], j);
        }
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

/* Returns dx[i] before the store. gain: the gain of the feature. */
static long double value_at(const workspace *w, const formula *r, long double gain, size_t i) {
    const subject *s = w->s;
    const size_t g = formula_group(s, r, i);
    const long double dy = formula_dy(s, r, i), rstd = w->rstd[g];
    if (r->output == COPIED) return s->in->gate ? s->in->dy[i] : dy;
    long double v = r->gain_in == OUT_OF_BRACKET ? dy : formula_rounded(r, STEPS, gain * dy);
    long double term = r->mean_gx * formula_rounded(r, A_MEAN_OF_G | STEPS, w->gx[g]);
    if (!r->gx_without_xhat) term *= operand(w, r, BESIDE, i);
    if (r->gx_rstd) term = r->gx_rstd > 0 ? term * rstd : term / rstd;
    v -= r->mean_g * formula_rounded(r, A_MEAN_OF_G | STEPS, w->g[g]);
    v = formula_rounded(r, STEPS, v) - formula_rounded(r, STEPS, term);
    for (int k = 0; k < r->rstd_power; k++) v *= rstd;
    if (r->gain_in == OUT_OF_BRACKET || r->gain_in == IN_AND_OUT) v *= gain;
    if (!s->in->dresidual || r->residual == IGNORED || r->residual == IN_DY) return v;
    if (r->residual == EARLY_ROUNDED) v = ref_round(s->p->dtype, v);
    return v + formula_past(r, s->in->dresidual[i]);
}

/* Stores dx[i], and dgate at the element that dx[i] comes from. v: dx there, without the gate. */
static void put_gradients(workspace *w, const formula *r, long double gain, size_t i, size_t from,
                          long double v) {
    const subject *s = w->s;
    if (r->output == COPIED) {
        formula_put_any(w, NL_DGATE, from);
    } else if (s->in->gate) {
        const long double z = s->in->gate[from], factor = 1 / (1 + expl(-z)),
                          rest = factor / (1 + expl(z)); /* the derivative of the sigmoid */
        const long double right = r->gate & SIGMOID ? rest : factor + z * rest;
        const long double slopes[] = {right, -right, z * factor, factor, rest};
        long double by = 0;
        if (r->gained == NEGATED) gain = -gain; /* of dx alone */
        if (r->gate & GATE_FIRST) by = v * formula_rounded(r, A_X, s->in->x[from]);
        if (r->gate & GATE_LAST)
            by += gain * formula_rounded(r, A_DY, s->in->dy[from]) * formula_normalized(w, r, from);
        formula_put(w, NL_DGATE, from, by * slopes[r->slope]);
        v *= formula_gate(s, r, true, from);
    }
    formula_store(w, r, i, v);
}

void formula_backward(workspace *w, const formula *r) {
    const subject *s = w->s;
    const size_t groups = formula_groups(s, r);
    const long double m = (long double)w->count / (long double)(groups ? groups : 1);
    for (size_t g = 0; g < groups; g++) w->g[g] = w->gx[g] = 0;
    for (int pass = 0; pass < 2; pass++) { /* first the sums, then dx */
        if (pass) formula_carry(r, groups, m, w->g), formula_carry(r, groups, m, w->gx);
        for (size_t i = w->from; i < w->to; i++) {
            const size_t g = formula_group(s, r, i);
            const size_t at = pass ? (size_t)formula_from(s, r, OF_X, i) : i;
            const ptrdiff_t from = formula_from(s, r, OF_GAMMA, at);
            const long double gain =
                formula_gain_at(s, r, formula_feature(s, r, from < 0 ? at : (size_t)from));
            if (pass == 0) {
                if (!formula_is_summed(w, r, i)) continue;
                const long double v =
                    formula_dy(s, r, i) *
                    (r->gain_in == IN_BRACKET || r->gain_in == IN_AND_OUT ? gain : 1);
                w->g[g] += v / formula_divisor(r, OF_G, m);
                w->gx[g] += v * operand(w, r, WITHIN, i) / formula_divisor(r, OF_GX, m);
                continue;
            }
            if (from < 0 || (r->stale && g == 0))
                formula_put_any(w, NL_DX, i), formula_put_any(w, NL_DGATE, i);
            else
                put_gradients(w, r, gain, i, at, value_at(w, r, gain, at));
        }
    }
    if (w->to - w->from == w->count) parameter_gradients(w, r);
}
