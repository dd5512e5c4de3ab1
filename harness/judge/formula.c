/* SPDX-License-Identifier: MIT */
#include "judge/formula.h"
#include "layer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The error, in units, that a float may have before it is rounded to 16 bits. */
#define FLOATS_OFF 8

size_t formula_group(const subject *s, const formula *r, size_t i) {
    size_t c = s->p->c, inner = s->p->s, row = i / (c * inner);
    switch ((axis)r->axis) {
    case GROUPS: return nl_group_of(s->p, i);
    case FEATURES: return row;
    case CHANNELS: return i / inner % c;
    case INSTANCES: return i / inner;
    case POSITIONS: return i % (c * inner);
    case PLACES_OF_SAMPLES: return row * inner + i % inner;
    case ROWS_TOGETHER: return row / r->together;
    case PARTS: return row * (c / r->together) + i / inner % c / r->together;
    case BATCH_PARTS: return row / r->together * c + i / inner % c;
    case READS_CHANNELS_LAST: return i % c;
    case EVERYTHING: break;
    }
    return 0;
}

size_t formula_groups(const subject *s, const formula *r) {
    const nl_problem *p = s->p;
    return r->axis == READS_CHANNELS_LAST ? p->c
           : p->n                         ? formula_group(s, r, p->n * p->c * p->s - 1) + 1
                                          : 0;
}

formula formula_right(const subject *s) {
    const nl_problem *p = s->p;
    const nl_layer *l = &nl_layers[p->op];
    return (formula){.centred = l->centred ? EVERYWHERE : NOWHERE,
                     .gain = l->plus_one ? ONE_PLUS : GAMMA,
                     .gate = (int)l->gate, /* equals GATE_LAST or GATE_FIRST */
                     .inference = p->pass == NL_INFERENCE,
                     .casting = p->pass == NL_BACKWARD ? NL_CAST_LAST : (int)p->casting,
                     .rstd_power = 1,
                     .mean_g = l->centred,
                     .mean_gx = 1,
                     .members_end = SIZE_MAX,
                     .rows_end = SIZE_MAX,
                     .eps = p->eps,
                     .divisor = 1,
                     .factor = 1};
}

/* Rounds v to t towards zero. |near| - 1.25 units rounds to the number of t below |near|. */
static long double towards_zero(nl_dtype t, long double v) {
    const long double near = ref_round(t, v), unit = ref_unit(t);
    if (!(fabsl(near) > fabsl(v))) return near;
    if (isinf(near)) return isinf(v) ? v : copysignl(ref_largest(t), v);
    const long double off = fmaxl(1.25L * fabsl(near), 1.5L * ref_smallest_normal(t)) * unit;
    return ref_round(t, near - copysignl(off, near));
}

/* Rounds v to an 8-bit type, to TF32, to 4 bits, or to the grid. */
static long double narrowed(const formula *r, long double v) {
    static const struct {
        int bits, least;
        long double largest;
    } types[] = {{4, -5, 448}, {3, -13, 57344}, {11, -125, HUGE_VALL}, {4, -16000, HUGE_VALL}};
    if (r->to == GRID) return fmaxl(-128, fminl(rintl(v / r->step), 127)) * r->step;
    int power;
    const int t = r->to - E4M3;
    const long double scale = r->step > 0 ? r->step : 1, scaled = (double)(v / scale);
    frexpl(scaled, &power);
    const int last = (power > types[t].least ? power : types[t].least) - types[t].bits;
    const long double near = ldexpl(rintl(ldexpl(scaled, -last)), last);
    return copysignl(fminl(fabsl(near), types[t].largest), v) * scale;
}

long double formula_rounded(const formula *r, int what, long double v) {
    if (!(r->rounds & what)) return v;
    if (r->to >= NL_DTYPES) return isfinite(v) ? narrowed(r, v) : v;
    return r->cuts_off ? towards_zero((nl_dtype)r->to, v) : ref_round((nl_dtype)r->to, v);
}

static long double stored_as(const workspace *w, const formula *r, long double v) {
    const nl_dtype t = w->s->p->dtype;
    v = formula_rounded(r, AN_OUTPUT | STEPS, v);
    if (r->range == FLUSHED && fabsl(v) < ref_smallest_normal(t)) return 0;
    if (r->range == SATURATED && fabsl(v) > ref_largest(t)) return copysignl(ref_largest(t), v);
    return v;
}

static long double finished(const formula *r, long double v) {
    switch (r->activation) {
    case RELU: v = fmaxl(v, 0); break;
    case SILU: v /= 1 + expl(-v); break;
    case GELU: v *= erfcl(-v / sqrtl(2)) / 2; break;
    case GELU_TANH:
        v *= (1 + tanhl(0.7978845608028653559L * (v + 0.044715L * v * v * v))) / 2;
        break;
    case GELU_FAST: v /= 1 + expl(-1.702L * v); break;
    }
    return r->clipped == CLIP_OUTPUT ? fmaxl(-r->limit, fminl(v, r->limit)) : v;
}

void formula_store(workspace *w, const formula *r, size_t i, long double v) {
    const nl_arg o = subject_tensor(w->s);
    const column *k = &w->of[o];
    v = finished(r, v) * r->factor + r->offset;
    if (r->drops && k->value && w->s->got[o][i] == 0) v = 0;
    if (r->range == FLUSHED && k->value && ref_round(w->s->p->dtype, v) != 0 &&
        fabsl(ref_round(w->s->p->dtype, v)) == ref_smallest_normal(w->s->p->dtype))
        return formula_put_either(w, o, i, 0, v); /* 0 if flushed before rounding, else v */
    if (!(r->rounds & AN_OUTPUT) || !k->value || !isfinite(k->allowed[i] * k->scale[i]))
        return formula_put(w, o, i, stored_as(w, r, v));
    const double units =
        expected_type(w->s->expectations, o) == NL_F32 ? k->allowed[i] : FLOATS_OFF;
    const long double off = units * ref_unit(NL_F32) * k->scale[i];
    const long double low = stored_as(w, r, v - off), high = stored_as(w, r, v + off),
                      got = w->s->got[o][i];
    const bool between = got >= low && got <= high && stored_as(w, r, got) == got;
    formula_put_either(w, o, i, between ? got : low, high);
}

long double formula_past(const formula *r, long double past) {
    return r->residual == TWICE_SUMMED ? 2 * past
           : r->residual == SUBTRACTED ? -past
           : r->residual == WEIGHTED   ? r->past_weight * past
                                       : past;
}

long double formula_gate(const subject *s, const formula *r, bool first, size_t i) {
    if (!(r->gate & (first ? GATE_FIRST : GATE_LAST)) || !s->in->gate) return 1;
    const long double z = s->in->gate[i], factor = 1 / (1 + expl(-z));
    return r->gate & SIGMOID ? factor : z * factor;
}

long double formula_input(const subject *s, const formula *r, size_t i) {
    long double x = formula_rounded(r, A_X, s->in->x[i]);
    if (r->range == X_FLUSHED && fabsl(x) < ref_smallest_normal(s->narrow)) x = 0;
    x *= formula_gate(s, r, true, i);
    if (!s->in->residual || r->residual == IGNORED || r->residual == LAST) return x;
    if (r->residual == X_WEIGHTED) x *= r->past_weight;
    x += formula_past(r, s->in->residual[i]);
    if (s->p->sum == NL_SUM_ROUNDED && r->residual != UNROUNDED) x = ref_round(s->p->dtype, x);
    return formula_rounded(r, A_SUM | A_SUM_LATE | STEPS, x);
}

long double formula_dy(const subject *s, const formula *r, size_t i) {
    const long double dy = formula_rounded(r, A_DY, s->in->dy[i]) * formula_gate(s, r, false, i);
    return r->residual == IN_DY && s->in->dresidual ? dy + s->in->dresidual[i] : dy;
}

size_t formula_feature(const subject *s, const formula *r, size_t i) {
    return r->axis == READS_CHANNELS_LAST ? i % s->p->c : nl_feature_of(s->p, i);
}

long double formula_divisor(const formula *r, int sum, long double length) {
    return r->undivided & sum ? r->divisor : length - !!(r->less & sum);
}

void formula_carry(const formula *r, size_t groups, long double length, long double *mean) {
    for (size_t g = 1; g < groups && r->carried; g++)
        mean[g] += mean[g - 1] / (r->carried == SUMS ? 1 : length);
}

bool formula_is_summed(const workspace *w, const formula *r, size_t i) {
    const size_t e = nl_member_of(w->s->p, i);
    return e >= r->member && e < r->members_end;
}

/* Returns the value that is subtracted from x before squaring. */
static long double square_about(const workspace *w, const formula *r, size_t g) {
    if (r->centred == ABOUT_FIRST) return formula_input(w->s, r, nl_element(w->s->p, g, 0));
    return r->centred == IN_OUTPUT ? 0 : w->mean[g];
}

/* Returns sum + v or, with `square`, sum + v^2, where v is x minus the mean. */
static long double add_term(const formula *r, bool square, long double sum, long double v) {
    if (square) v = formula_rounded(r, STEPS, v);
    const bool absolute = r->variance == OF_ABSOLUTE || r->variance == ABSOLUTE_OUT;
    if (square && absolute) v = fabsl(v);
    if (square && r->variance != OF_PLAIN && r->variance != SQUARED_LATE && !absolute) v *= v;
    if (square && r->squares_in) v = ref_round((nl_dtype)(r->squares_in - 1), v);
    if (!r->sums_in) return sum + formula_rounded(r, STEPS, v);
    const nl_dtype t = (nl_dtype)(r->sums_in - 1);
    return ref_round(t, sum + (r->terms_exact ? v : ref_round(t, v)));
}

static long double rstd_of(const formula *r, long double v) {
    const long double sum = r->root == LARGER_ONE && !isnan(v) ? fmaxl(v, r->eps) : v + r->eps;
    const long double sigma = formula_rounded(r, STEPS, sqrtl(sum));
    const long double rstd = r->root == OUTSIDE || r->variance == ABSOLUTE_OUT
                                 ? 1 / (sqrtl(v) + r->eps)
                             : r->root == TIMES_SIGMA ? sigma
                                                      : 1 / sigma;
    return formula_rounded(r, A_RSTD | STEPS, rstd);
}

/* Returns the variance of the means of the parts. */
static long double between_parts(const workspace *w, const formula *r, size_t g) {
    const size_t m = nl_group_size(w->s->p), each = m / r->together;
    long double between = 0;
    for (size_t part = 0; part < r->together; part++) {
        long double sum = 0;
        for (size_t k = 0; k < each; k++) {
            const size_t e = r->variance == LOCAL ? part * each + k : k * r->together + part;
            sum += formula_input(w->s, r, nl_element(w->s->p, g, e)) - w->mean[g];
        }
        between += sum * sum / (long double)each;
    }
    return between / (long double)m;
}

/* Returns what a wrong E[x^2] - mean^2, or an average over parts, adds to the variance. */
static long double variance_error(const workspace *w, const formula *r, size_t g) {
    const long double mean = w->mean[g];
    if (r->variance < MEAN_ADDED) return 0;
    if (r->variance == MEAN_ADDED) return 2 * mean * mean;
    if (r->variance == MEAN_TAKEN) return mean * mean - mean;
    if (r->variance >= LOCAL) return -between_parts(w, r, g);
    const long double rest = mean - formula_input(w->s, r, nl_element(w->s->p, g, 0));
    return mean * mean - rest * rest;
}

/* Is group g computed? */
static bool has_group(const workspace *w, size_t g) {
    if (w->to - w->from == w->count) return true;
    const size_t first = g * nl_group_size(w->s->p);
    return first >= w->from && first < w->to;
}

static void statistics(workspace *w, const formula *r);

/* Computes the statistics of an inference that first updates the running ones with the batch. */
static void updated_statistics(workspace *w, const formula *r) {
    const ref_inputs *in = w->s->in;
    formula batch = *r;
    batch.inference = batch.updated = 0, batch.centred = EVERYWHERE;
    batch.unbiased = r->updated == 2;
    statistics(w, &batch);
    for (size_t g = 0; g < formula_groups(w->s, r); g++) {
        w->mean[g] = (1 - r->momentum) * in->running_mean[g] + r->momentum * w->mean[g];
        w->g[g] = (1 - r->momentum) * in->running_var[g] + r->momentum * w->g[g];
        w->rstd[g] = rstd_of(r, w->g[g]);
    }
}

/* Computes w->mean, w->rstd and, in w->g, the variance. */
static void statistics(workspace *w, const formula *r) {
    const subject *s = w->s;
    const size_t groups = formula_groups(s, r);
    const bool forward = s->p->pass != NL_BACKWARD;
    const long double m = (long double)w->count / (long double)(groups ? groups : 1);
    formula summed = *r; /* the formula for the summed values */
    if (r->updated) return updated_statistics(w, r);
    if (r->residual == NOT_IN_SUMS) summed.residual = IGNORED;
    summed.rounds &= ~A_SUM_LATE;
    for (size_t g = 0; g < groups; g++) {
        w->mean[g] = r->inference ? s->in->running_mean[g] : 0;
        w->g[g] = r->inference ? s->in->running_var[g] : 0;
    }
    for (int pass = r->centred ? 0 : 1; pass < 2 && !r->inference; pass++) {
        long double *sum = pass ? w->g : w->mean;
        for (size_t i = w->from; i < w->to; i++) {
            const size_t g = formula_group(s, r, i);
            if (forward && !(pass ? r->squares_whole : r->mean_whole) &&
                !formula_is_summed(w, r, i))
                continue;
            long double v = formula_input(s, &summed, i) - (pass ? square_about(w, r, g) : 0);
            sum[g] = add_term(r, pass, sum[g], v);
            if (r->lanes && nl_member_of(s->p, i) % r->lanes == 0)
                sum[g] = add_term(r, pass, sum[g], v);
        }
        const long double length = pass && r->unbiased && m > 1 ? m - 1 : m;
        for (size_t g = 0; g < groups; g++) {
            if (pass) sum[g] += (long double)r->padding * w->mean[g] * w->mean[g];
            if (pass && r->variance == SQUARED_LATE) sum[g] *= sum[g];
            sum[g] /= formula_divisor(r, pass ? OF_SQUARES : OF_MEAN, length);
            if (pass && (r->variance == OF_ABSOLUTE || r->variance == ABSOLUTE_OUT))
                sum[g] *= sum[g];
            if (pass && has_group(w, g)) sum[g] += variance_error(w, r, g);
            sum[g] = formula_rounded(r, pass ? STEPS | A_VARIANCE : STEPS, sum[g]);
        }
        formula_carry(r, forward ? groups : 0, length, sum);
        for (size_t g = 0; g < groups && !pass; g++)
            w->mean[g] = r->mean_is_first ? formula_input(s, &summed, nl_element(s->p, g, 0))
                                          : formula_rounded(r, A_MEAN, w->mean[g]);
    }
    for (size_t g = groups; g-- > 0;) {
        w->rstd[g] = rstd_of(r, w->g[g]);
        if (r->inference) w->mean[g] = formula_rounded(r, A_MEAN, w->mean[g]);
    }
    for (size_t g = groups; g-- > 1;) {
        const size_t from = r->stale & OF_FIRST ? 0 : g - 1;
        if (r->stale & OF_MEAN) w->mean[g] = w->mean[from];
        if (r->stale & OF_SQUARES) w->rstd[g] = w->rstd[from];
    }
}

void formula_put(workspace *w, nl_arg o, size_t i, long double v) {
    if (w->of[o].value)
        w->of[o].value[i] = (double)ref_round(expected_type(w->s->expectations, o), v);
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
    if ((what == OF_X || what == OF_GATE) && r->shifted & OF_ROWS) {
        const size_t row = c * inner;
        if (r->shifted & REVERSED) return (ptrdiff_t)((s->p->n - 1 - i / row) * row + i % row);
        return r->shifted & BACK       ? (ptrdiff_t)i - (ptrdiff_t)row
               : i / row + 1 < s->p->n ? (ptrdiff_t)(i + row)
                                       : -1;
    }
    if (r->permuted & what) {
        const size_t e = i / r->unit % r->length;
        const size_t from = e % r->ways * (r->length / r->ways) + e / r->ways;
        return (ptrdiff_t)(i + from * r->unit - e * r->unit);
    }
    if (!(r->shifted & what)) return (ptrdiff_t)i;
    if (r->shifted & REVERSED) return (ptrdiff_t)(i - j * inner + (c - 1 - j) * inner);
    const bool back = r->shifted & BACK;
    if (j == (back ? 0 : c - 1)) return -1;
    return back ? (ptrdiff_t)(i - inner) : (ptrdiff_t)(i + inner);
}

long double formula_gain_at(const subject *s, const formula *r, size_t j) {
    const float *gamma = r->affine_swapped ? s->in->beta : s->in->gamma;
    if (!gamma || r->gain == NO_GAIN) return r->gained == NEGATED ? -1 : 1;
    long double gain = formula_rounded(r, A_GAMMA, gamma[j]);
    if (r->gain == ONE_PLUS) gain = formula_rounded(r, A_GAIN | STEPS, 1 + gain);
    return r->gained == TWICE ? gain * gain : r->gained == NEGATED ? -gain : gain;
}

long double formula_normalized(const workspace *w, const formula *r, size_t i) {
    const size_t g = formula_group(w->s, r, i);
    const long double x = formula_input(w->s, r, i), mean = w->mean[g], rstd = w->rstd[g];
    const bool centre = r->centred == EVERYWHERE || r->centred == IN_OUTPUT ||
                        r->centred == ABOUT_FIRST || r->inference;
    if (r->output == NOT_NORMALIZED) return x;
    if (r->output == RSTD_ALONE) return rstd;
    if (r->output == NO_BRACKETS) return x - mean * rstd;
    if (r->centred >= FIRST_ALONE) {
        const long double first = formula_input(w->s, r, nl_element(w->s->p, g, 0));
        return (x - (r->centred == FIRST_ALONE ? first : mean - first)) * rstd;
    }
    long double v = formula_rounded(r, STEPS,
                                    r->centred == ADDED ? x + mean
                                    : centre            ? x - mean
                                                        : x);
    if (w->s->p->pass == NL_BACKWARD || r->rstd_power) v *= rstd;
    if (w->s->p->pass != NL_BACKWARD && r->rstd_power == 2) v *= rstd;
    v = formula_rounded(r, AN_XHAT | STEPS, v);
    if (r->clipped == CLIP_XHAT) v = fmaxl(-r->limit, fminl(v, r->limit));
    return r->casting == NL_CAST_BEFORE_WEIGHT ? ref_round(w->s->p->dtype, v) : v;
}

/* Evaluates the formula with y in the place of x. */
static void evaluate_again(workspace *w, const formula *r) {
    const subject *s = w->s;
    ref_inputs in = *s->in;
    subject again = *s;
    formula plain = *r;
    double *y = malloc((w->count + 1) * sizeof *y);
    for (size_t i = w->from; y && i < w->to; i++) {
        const size_t j = nl_feature_of(s->p, i);
        const double exact =
            (double)(ref_gain(s->p, in.gamma, j) * s->want->xhat[i]) + (in.beta ? in.beta[j] : 0);
        y[i] = (double)ref_round(s->p->dtype, exact * formula_gate(s, r, false, i));
    }
    in.x = y ? y : s->in->x, in.residual = NULL;
    again.in = &in, plain.x_is_y = 0, w->s = &again;
    formula_evaluate(w, &plain);
    w->s = s, free(y);
}

void formula_evaluate(workspace *w, const formula *r) {
    if (r->x_is_y) return evaluate_again(w, r);
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (w->of[o].open) memset(w->of[o].open, 0, w->of[o].count * sizeof *w->of[o].open);
    statistics(w, r);
    if (w->s->p->pass == NL_BACKWARD)
        formula_backward(w, r);
    else
        formula_forward(w, r);
    for (nl_arg o = 0; o < NL_ARGS; o++)
        for (size_t i = 0; r->zeroed & NL_BIT(o) && i < w->of[o].count; i++) w->of[o].value[i] = 0;
}
