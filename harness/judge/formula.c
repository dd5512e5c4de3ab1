/* SPDX-License-Identifier: MIT */
#include "judge/formula.h"
#include "base/stats.h"
#include "layer.h"

#include <math.h>
#include <stdlib.h>

size_t formula_group(const subject *s, axis a, size_t i) {
    size_t c = s->p->c, inner = s->p->s;
    switch (a) {
    case GROUPS: return nl_group_of(s->p, i);
    case FEATURES: return i / (c * inner);
    case CHANNELS: return i / inner % c;
    case INSTANCES: return i / inner;
    case POSITIONS: return i % (c * inner);
    case TWO_AXES: return i / (c * s->rows_together);
    default: return 0;
    }
}

size_t formula_groups(const subject *s, axis a) {
    const nl_problem *p = s->p;
    switch (a) {
    case GROUPS: return nl_group_count(p);
    case FEATURES: return p->n;
    case CHANNELS: return p->c;
    case INSTANCES: return p->n * p->c;
    case POSITIONS: return p->c * p->s;
    case TWO_AXES: return p->n / s->rows_together;
    default: return 1;
    }
}

formula formula_right(const subject *s) {
    const nl_problem *p = s->p;
    const nl_layer *l = &nl_layers[p->op];
    return (formula){.centred = l->centred,
                     .gain_plus_one = l->plus_one,
                     .inference = p->pass == NL_INFERENCE,
                     .axis = GROUPS,
                     .eps = p->eps,
                     .casting = p->casting,
                     .factor = 1};
}

bool workspace_open(workspace *w, const subject *s) {
    size_t count = s->p->n * s->p->c * s->p->s;
    *w = (workspace){.s = s, .count = count};
    w->mean = calloc(count + 1, 3 * sizeof *w->mean);
    w->error = calloc(count + 1, sizeof *w->error);
    if (!w->mean || !w->error) return workspace_close(w), false;
    w->square = w->mean + count, w->y = w->square + count;
    return true;
}

void workspace_close(workspace *w) {
    free(w->mean), free(w->error);
}

static long double input(const subject *s, const formula *r, size_t i) {
    long double x = s->in->x[i];
    if (!s->in->residual || r->residual == IGNORED) return x;
    x += s->in->residual[i];
    return r->residual == ROUNDED ? ref_round(s->narrow, x) : x;
}

static void statistics(workspace *w, const formula *r) {
    const subject *s = w->s;
    size_t groups = formula_groups(s, r->axis);
    long double m = (long double)w->count / (groups ? groups : 1);
    for (size_t g = 0; g < groups; g++) {
        w->mean[g] = r->inference ? s->in->running_mean[g] : 0;
        w->square[g] = r->inference ? s->in->running_var[g] : 0;
    }
    for (int pass = r->centred ? 0 : 1; pass < 2 && !r->inference; pass++) {
        long double *sum = pass ? w->square : w->mean;
        for (size_t i = 0; i < w->count; i++) {
            size_t g = formula_group(s, r->axis, i);
            long double v = input(s, r, i);
            if (pass) v -= w->mean[g], v *= v;
            if (r->sums_in_16_bits)
                v = ref_round(s->narrow, sum[g] + ref_round(s->narrow, v));
            else
                v += sum[g];
            sum[g] = v;
        }
        for (size_t g = 0; g < groups; g++) sum[g] /= pass && r->unbiased ? m - 1 : m;
    }
    for (size_t g = 0; g < groups; g++) {
        long double v = w->square[g];
        w->square[g] = r->root == INSIDE    ? 1 / sqrtl(v + r->eps)
                       : r->root == OUTSIDE ? 1 / (sqrtl(v) + r->eps)
                                            : 1 / (v + r->eps);
    }
}

void formula_evaluate(workspace *w, const formula *r) {
    const subject *s = w->s;
    const nl_problem *p = s->p;
    statistics(w, r);
    for (size_t i = 0; i < w->count; i++) {
        size_t g = formula_group(s, r->axis, i), j = nl_feature_of(p, i);
        long double v = input(s, r, i), gain = 1;
        if (!r->not_normalized) v = (v - w->mean[g]) * w->square[g];
        if (r->casting == NL_CAST_BEFORE_WEIGHT) v = ref_round(p->dtype, v);
        if (s->in->gamma && !r->no_gamma) gain = s->in->gamma[j] + (r->gain_plus_one ? 1.0L : 0.0L);
        v *= gain;
        if (s->in->beta && !r->no_beta) v += s->in->beta[j];
        v = v * r->factor + r->offset;
        if (r->rounded) v = ref_round(r->stored, v);
        w->y[i] = ref_round(p->dtype, v);
    }
}

/* A NaN where none belongs, or a missing one, counts as an error of twice the number's size: enough
 * to matter, and not so much that it hides the other errors. */
mismatch formula_residual(workspace *w) {
    double most = 2 / (double)ref_unit(w->s->p->dtype), sum = 0;
    mismatch left = {0};
    for (size_t i = 0; i < w->count; i++) {
        double e = subject_units(w->s, i, w->s->y[i], w->y[i], w->y[i]);
        left.largest = fmax(left.largest, e);
        if (isinf(e)) e = most, left.not_finite++;
        w->error[i] = e, sum += e * e;
    }
    left.rms = sqrt(sum / (double)w->count);
    return left;
}

/* The eps that best explains the scale of each group of y; the median over the groups. */
double formula_fit_eps(workspace *w) {
    const subject *s = w->s;
    size_t groups = ref_groups(s->p), found = 0;
    formula plain = formula_right(s);
    double *eps = w->error;
    long double *up = w->mean, *down = w->square;
    for (size_t g = 0; g < groups; g++) up[g] = down[g] = 0;
    for (size_t i = 0; i < w->count; i++) { /* theirs - beta = ratio * gain * xhat, least squares */
        size_t g = formula_group(s, plain.axis, i), j = nl_feature_of(s->p, i);
        long double v = ref_gain(s->p, s->in->gamma, j) * s->want->xhat[i];
        up[g] += v * (s->y[i] - (s->in->beta ? s->in->beta[j] : 0)), down[g] += v * v;
    }
    for (size_t g = 0; g < groups; g++) {
        long double ratio = up[g] / down[g], var = s->want->var[g];
        double e = (double)((var + s->p->eps) / (ratio * ratio) - var);
        if (isfinite(e)) eps[found++] = e;
    }
    if (found < 3) return -1;
    return stats_quantile(eps, found, 0.5);
}

/* Fits a constant factor of y and a constant offset, independently, by least squares. */
void formula_fit_line(workspace *w, double *factor, double *offset) {
    const subject *s = w->s;
    long double yy = 0, xy = 0, d = 0;
    size_t count = 0;
    formula plain = formula_right(s);
    formula_evaluate(w, &plain);
    for (size_t i = 0; i < w->count; i++) {
        long double x = w->y[i], y = s->y[i];
        if (!isfinite(x) || !isfinite(y)) continue;
        yy += x * x, xy += x * y, d += y - x, count++;
    }
    *factor = yy > 0 ? (double)(xy / yy) : 1;
    *offset = count ? (double)(d / count) : 0;
}
