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

static long double input(const subject *s, int residual, size_t i) {
    long double x = s->in->x[i];
    if (!s->in->residual || residual == IGNORED || residual == LAST) return x;
    x += s->in->residual[i];
    return residual == ROUNDED ? ref_round(s->narrow, x) : x;
}

static long double divisor(const formula *r, int sum, long double length) {
    return r->undivided & sum ? r->divisor : length;
}

static bool is_summed(const workspace *w, const formula *r, size_t i) {
    const size_t e = nl_member_of(w->s->p, i);
    return e >= r->member && e < r->members_end;
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
            if (forward && !is_summed(w, r, i)) continue;
            long double v = input(s, r->residual == NOT_IN_SUMS ? IGNORED : r->residual, i);
            if (pass) v -= r->centred == IN_OUTPUT ? 0 : w->mean[g], v *= v;
            if (r->sums_in_16_bits)
                v = ref_round(s->narrow, sum[g] + ref_round(s->narrow, v));
            else
                v += sum[g];
            sum[g] = v;
        }
        const long double length = pass && r->unbiased && m > 1 ? m - 1 : m;
        for (size_t g = 0; g < groups; g++)
            sum[g] /= divisor(r, pass ? OF_SQUARES : OF_MEAN, length);
    }
    for (size_t g = groups; g-- > 0;) {
        const long double v = w->g[g], sigma = sqrtl(v + r->eps);
        w->rstd[g] = r->root == INSIDE    ? 1 / sigma
                     : r->root == OUTSIDE ? 1 / (sqrtl(v) + r->eps)
                     : r->root == NO_ROOT ? 1 / (v + r->eps)
                                          : sigma;
    }
    for (size_t g = groups; g-- > 1;) {
        const size_t from = r->stale & OF_FIRST ? 0 : g - 1;
        if (r->stale & OF_MEAN) w->mean[g] = w->mean[from];
        if (r->stale & OF_SQUARES) w->rstd[g] = w->rstd[from];
    }
}

static void put(workspace *w, nl_arg o, size_t i, long double v) {
    if (w->of[o].value)
        w->of[o].value[i] =
            (double)ref_round(o == subject_tensor(w->s) || o == NL_RESIDUAL_OUT ? w->s->p->dtype
                                                                                : NL_F32,
                              v);
}

/* The mistake does not determine this number. */
static void put_any(workspace *w, nl_arg o, size_t i) {
    if (w->of[o].value) w->of[o].open[i] = true;
}

/* Either may be stored, the mistake does not say which. */
static void put_either(workspace *w, nl_arg o, size_t i, long double one, long double two) {
    if (!w->of[o].value) return;
    const long double got = w->s->got[o][i];
    put(w, o, i, fabsl(got - two) < fabsl(got - one) ? two : one);
}

/* The element that element i takes `what` of, or -1: beyond the row. */
static ptrdiff_t shifted(const subject *s, const formula *r, int what, size_t i) {
    const size_t c = s->p->c, inner = s->p->s, j = i / inner % c;
    if (!(r->shifted & what)) return (ptrdiff_t)i;
    const bool back = r->shifted & BACK;
    if (j == (back ? 0 : c - 1)) return -1;
    return back ? (ptrdiff_t)(i - inner) : (ptrdiff_t)(i + inner);
}

static long double gain_at(const subject *s, const formula *r, size_t j) {
    if (!s->in->gamma || r->gain == NO_GAIN) return 1;
    return s->in->gamma[j] + (r->gain == ONE_PLUS ? 1.0L : 0.0L);
}

static long double normalized(const workspace *w, const formula *r, size_t i) {
    const size_t g = formula_group(w->s, r, i);
    const long double x = input(w->s, r->residual, i);
    const bool centre = r->centred == EVERYWHERE || r->centred == IN_OUTPUT || r->inference;
    if (r->not_normalized) return x;
    const long double v = (x - (centre ? w->mean[g] : 0)) * w->rstd[g];
    return r->casting == NL_CAST_BEFORE_WEIGHT ? ref_round(w->s->p->dtype, v) : v;
}

static void saved_statistics(workspace *w, const formula *r) {
    const subject *s = w->s;
    const nl_problem *p = s->p;
    const long double m = (long double)nl_group_size(p);
    const long double weight = r->running & SWAPPED ? 1 - (long double)p->momentum : p->momentum;
    const bool biased = p->biased_running_var != !!(r->running & OTHER_BIAS);
    for (size_t g = 0; g < nl_group_count(p); g++) {
        if (r->axis != GROUPS) {
            for (nl_arg o = NL_MEAN; o <= NL_RUNNING_VAR; o++) put_any(w, o, g);
            continue;
        }
        const long double v = w->g[g], sigma = sqrtl(v + r->eps);
        const long double rstd = r->saved == SIGMA ? sigma : r->saved == VARIANCE ? v : w->rstd[g];
        put_either(w, NL_MEAN, g, w->mean[g], r->stale ? s->want->mean[g] : w->mean[g]);
        put_either(w, NL_RSTD, g, rstd, r->stale ? s->want->rstd[g] : rstd);
        if (!s->in->running_mean || !w->of[NL_RUNNING_MEAN].value) continue;
        const float mean = s->in->running_mean[g], var = s->in->running_var[g];
        const long double fresh = biased ? v : v * m / (m - 1);
        const bool old = r->running & OLD;
        put(w, NL_RUNNING_MEAN, g, old ? mean : (1 - weight) * mean + weight * w->mean[g]);
        put(w, NL_RUNNING_VAR, g, old ? var : (1 - weight) * var + weight * fresh);
    }
}

static void forward(workspace *w, const formula *r) {
    const subject *s = w->s;
    for (size_t i = 0; i < w->count; i++) {
        const ptrdiff_t x = shifted(s, r, OF_X, i), of_gamma = shifted(s, r, OF_GAMMA, i),
                        of_beta = shifted(s, r, OF_BETA, i);
        if (s->in->residual)
            put_either(w, NL_RESIDUAL_OUT, i, r->x_as_sum ? s->in->x[i] : input(s, SUMMED, i),
                       input(s, r->x_as_sum ? IGNORED : r->residual, i));
        if (x < 0 || of_gamma < 0 || of_beta < 0 || (r->stale && formula_group(s, r, i) == 0)) {
            put_any(w, NL_Y, i);
            continue;
        }
        const float *beta = r->beta == BETA_IGNORED ? NULL : s->in->beta;
        const long double shift = beta ? beta[nl_feature_of(s->p, (size_t)of_beta)] : 0;
        const long double gain = gain_at(s, r, nl_feature_of(s->p, (size_t)of_gamma));
        long double v = normalized(w, r, (size_t)x);
        v = r->beta == BETA_FIRST ? (v + shift) * gain : v * gain + shift;
        if (r->residual == LAST && s->in->residual) v += s->in->residual[i];
        v = v * r->factor + r->offset;
        put(w, NL_Y, i, r->rounded ? ref_round((nl_dtype)(r->rounded - 1), v) : v);
    }
    saved_statistics(w, r);
}

/* What the mistake takes for xhat. */
static long double operand(const workspace *w, const formula *r, int of, size_t i) {
    const long double x = w->s->in->x[i], mean = w->mean[formula_group(w->s, r, i)];
    return of == XHAT ? normalized(w, r, i) : of == RAW_X ? x : x - mean;
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
                r->gradients_gained & (k ? OF_BETA : OF_GAMMA) ? gain_at(s, r, j) : 1;
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
            put_any(w, o, r->shifted & BACK ? 0 : c - 1);
        }
        const long double *right = o == NL_DGAMMA ? s->want->dgamma : s->want->dbeta;
        const bool either = r->row || r->rows_end != SIZE_MAX || r->gradients_averaged;
        for (size_t j = 0; j < c; j++) put_either(w, o, j, v[j], either ? right[j] : v[j]);
    }
}

static void backward(workspace *w, const formula *r) {
    const subject *s = w->s;
    const size_t groups = formula_groups(s, r);
    const long double m = (long double)w->count / (long double)(groups ? groups : 1);
    for (size_t g = 0; g < groups; g++) w->g[g] = w->gx[g] = 0;
    for (int pass = 0; pass < 2; pass++) { /* the sums, then dx */
        for (size_t i = 0; i < w->count; i++) {
            const size_t g = formula_group(s, r, i);
            const ptrdiff_t from = shifted(s, r, OF_GAMMA, i);
            const long double gain =
                gain_at(s, r, nl_feature_of(s->p, from < 0 ? i : (size_t)from));
            const long double dy = s->in->dy[i], xhat = operand(w, r, r->dx_of, i);
            if (pass == 0) {
                if (!is_summed(w, r, i)) continue;
                const long double v = r->gain_in == IN_BRACKET ? gain * dy : dy;
                w->g[g] += v / divisor(r, OF_G, m), w->gx[g] += v * xhat / divisor(r, OF_GX, m);
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
                put_any(w, NL_DX, i);
            else
                put(w, NL_DX, i, v * r->factor + r->offset);
        }
    }
    parameter_gradients(w, r);
}

void formula_evaluate(workspace *w, const formula *r) {
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (w->of[o].open) memset(w->of[o].open, 0, w->of[o].count * sizeof *w->of[o].open);
    statistics(w, r);
    if (w->s->p->pass == NL_BACKWARD)
        backward(w, r);
    else
        forward(w, r);
}
