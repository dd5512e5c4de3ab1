/* SPDX-License-Identifier: MIT */
#include "judge/formula.h"
#include "layer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

size_t formula_group(const subject *s, const formula *r, size_t i) {
    size_t c = s->p->c, inner = s->p->s, row = i / (c * inner);
    switch ((axis)r->axis) {
    case GROUPS: return nl_group_of(s->p, i);
    case FEATURES: return row;
    case CHANNELS: return i / inner % c;
    case INSTANCES: return i / inner;
    case POSITIONS: return i % (c * inner);
    case ROWS_TOGETHER: return row / r->together;
    case PARTS: return row * (c / r->together) + i / inner % c / r->together;
    case EVERYTHING: break;
    }
    return 0;
}

size_t formula_groups(const subject *s, const formula *r) {
    const nl_problem *p = s->p;
    return p->n ? formula_group(s, r, p->n * p->c * p->s - 1) + 1 : 0;
}

formula formula_right(const subject *s) {
    const nl_problem *p = s->p;
    const nl_layer *l = &nl_layers[p->op];
    return (formula){.centred = l->centred ? EVERYWHERE : NOWHERE,
                     .gain = l->plus_one ? ONE_PLUS : GAMMA,
                     .inference = p->pass == NL_INFERENCE,
                     .casting = p->pass == NL_BACKWARD ? NL_CAST_LAST : (int)p->casting,
                     .mean_g = l->centred ? TERM : NO_TERM,
                     .mean_gx = TERM,
                     .members_end = SIZE_MAX,
                     .rows_end = SIZE_MAX,
                     .eps = p->eps,
                     .divisor = 1,
                     .factor = 1};
}

long double formula_input(const subject *s, int residual, size_t i) {
    long double x = s->in->x[i];
    if (!s->in->residual || residual == IGNORED || residual == LAST) return x;
    x += s->in->residual[i];
    return residual == ROUNDED ? ref_round(s->narrow, x) : x;
}

long double formula_divisor(const formula *r, int sum, long double length) {
    return r->undivided & sum ? r->divisor : length;
}

void formula_carry(const formula *r, size_t groups, long double length, long double *mean) {
    for (size_t g = 1; g < groups && r->carried; g++)
        mean[g] += mean[g - 1] / (r->carried == SUMS ? 1 : length);
}

bool formula_is_summed(const workspace *w, const formula *r, size_t i) {
    const size_t e = nl_member_of(w->s->p, i);
    return e >= r->member && e < r->members_end;
}

/* What is subtracted before the square. */
static long double square_about(const workspace *w, const formula *r, size_t g) {
    const subject *s = w->s;
    if (r->centred == ABOUT_FIRST) return formula_input(s, r->residual, nl_element(s->p, g, 0));
    return r->centred == IN_OUTPUT ? 0 : w->mean[g];
}

/* w->mean, w->rstd, and w->g as the variance. */
static void statistics(workspace *w, const formula *r) {
    const subject *s = w->s;
    const size_t groups = formula_groups(s, r);
    const bool forward = s->p->pass != NL_BACKWARD;
    const long double m = (long double)w->count / (long double)(groups ? groups : 1);
    for (size_t g = 0; g < groups; g++) {
        w->mean[g] = r->inference ? s->in->running_mean[g] : 0;
        w->g[g] = r->inference ? s->in->running_var[g] : 0;
    }
    for (int pass = r->centred ? 0 : 1; pass < 2 && !r->inference; pass++) {
        long double *sum = pass ? w->g : w->mean;
        for (size_t i = 0; i < w->count; i++) {
            const size_t g = formula_group(s, r, i);
            if (forward && !formula_is_summed(w, r, i)) continue;
            long double v = formula_input(s, r->residual == NOT_IN_SUMS ? IGNORED : r->residual, i);
            if (pass) v -= square_about(w, r, g), v *= v;
            if (r->lanes && nl_member_of(s->p, i) % r->lanes == 0) v *= 2;
            if (r->sums_in_16_bits)
                v = ref_round(s->narrow, sum[g] + ref_round(s->narrow, v));
            else
                v += sum[g];
            sum[g] = v;
        }
        const long double length = pass && r->unbiased && m > 1 ? m - 1 : m;
        for (size_t g = 0; g < groups; g++) {
            if (pass) sum[g] += (long double)r->padding * w->mean[g] * w->mean[g];
            sum[g] /= formula_divisor(r, pass ? OF_SQUARES : OF_MEAN, length);
        }
        formula_carry(r, forward ? groups : 0, length, sum);
    }
    for (size_t g = groups; g-- > 0;) {
        const long double v = w->g[g], sigma = sqrtl(v + r->eps);
        w->rstd[g] = r->root == INSIDE    ? 1 / sigma
                     : r->root == OUTSIDE ? 1 / (sqrtl(v) + r->eps)
                     : r->root == NO_ROOT ? 1 / (v + r->eps)
                                          : sigma;
        if (r->rstd_rounded) w->rstd[g] = ref_round(s->narrow, w->rstd[g]);
    }
    for (size_t g = groups; g-- > 1;) {
        const size_t from = r->stale & OF_FIRST ? 0 : g - 1;
        if (r->stale & OF_MEAN) w->mean[g] = w->mean[from];
        if (r->stale & OF_SQUARES) w->rstd[g] = w->rstd[from];
    }
}

void formula_put(workspace *w, nl_arg o, size_t i, long double v) {
    if (w->of[o].value)
        w->of[o].value[i] =
            (double)ref_round(o == subject_tensor(w->s) || o == NL_RESIDUAL_OUT ? w->s->p->dtype
                                                                                : NL_F32,
                              v);
}

void formula_put_any(workspace *w, nl_arg o, size_t i) {
    if (w->of[o].value) w->of[o].open[i] = true;
}

void formula_put_either(workspace *w, nl_arg o, size_t i, long double one, long double two) {
    if (!w->of[o].value) return;
    const long double got = w->s->got[o][i];
    formula_put(w, o, i, fabsl(got - two) < fabsl(got - one) ? two : one);
}

ptrdiff_t formula_from(const subject *s, const formula *r, int what, size_t i) {
    const size_t c = s->p->c, inner = s->p->s, j = i / inner % c;
    if (!(r->shifted & what)) return (ptrdiff_t)i;
    const bool back = r->shifted & BACK;
    if (j == (back ? 0 : c - 1)) return -1;
    return back ? (ptrdiff_t)(i - inner) : (ptrdiff_t)(i + inner);
}

long double formula_gain_at(const subject *s, const formula *r, size_t j) {
    const bool none = !s->in->gamma || r->gain == NO_GAIN;
    const long double gain = none ? 1 : s->in->gamma[j] + (r->gain == ONE_PLUS ? 1.0L : 0.0L);
    return r->gained == TWICE ? gain * gain : r->gained == NEGATED ? -gain : gain;
}

long double formula_normalized(const workspace *w, const formula *r, size_t i) {
    const size_t g = formula_group(w->s, r, i);
    const long double x = formula_input(w->s, r->residual, i);
    const bool centre = r->centred == EVERYWHERE || r->centred == IN_OUTPUT ||
                        r->centred == ABOUT_FIRST || r->inference;
    if (r->not_normalized) return x;
    const long double v = (x - (centre ? w->mean[g] : 0)) * w->rstd[g];
    return r->casting == NL_CAST_BEFORE_WEIGHT ? ref_round(w->s->p->dtype, v) : v;
}

void formula_evaluate(workspace *w, const formula *r) {
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (w->of[o].open) memset(w->of[o].open, 0, w->of[o].count * sizeof *w->of[o].open);
    statistics(w, r);
    if (w->s->p->pass == NL_BACKWARD)
        formula_backward(w, r);
    else
        formula_forward(w, r);
}
