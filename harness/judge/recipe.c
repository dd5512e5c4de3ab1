/* Recipes for y, computed in long double and rounded like y, and how far theirs is from them.
 * SPDX-License-Identifier: MIT */
#include "judge/recipe.h"
#include "layer.h"
#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>

size_t recipe_group(const subject *s, axis a, size_t i) {
    size_t c = s->p->c, inner = s->p->s;
    switch (a) {
    case FEATURES: return i / (c * inner);
    case CHANNELS: return i / inner % c;
    case INSTANCES: return i / inner;
    case POSITIONS: return i % (c * inner);
    case TWO_AXES: return i / (c * s->rows_together);
    default: return 0;
    }
}

size_t recipe_groups(const subject *s, axis a) {
    const nl_problem *p = s->p;
    switch (a) {
    case FEATURES: return p->n;
    case CHANNELS: return p->c;
    case INSTANCES: return p->n * p->c;
    case POSITIONS: return p->c * p->s;
    case TWO_AXES: return p->n / s->rows_together;
    default: return 1;
    }
}

recipe recipe_right(const subject *s) {
    const nl_problem *p = s->p;
    const nl_layer *l = &nl_layers[p->op];
    return (recipe){.centred = l->centred,
                    .zero_gain = l->plus_one,
                    .inference = p->pass == NL_INFERENCE,
                    .axis = l->by_channel ? CHANNELS : FEATURES,
                    .eps = p->eps,
                    .casting = p->casting,
                    .factor = 1};
}

bool kitchen_open(kitchen *k, const subject *s) {
    size_t count = s->p->n * s->p->c * s->p->s;
    *k = (kitchen){.s = s, .count = count};
    k->mean = calloc(count + 1, 3 * sizeof *k->mean);
    k->error = calloc(count + 1, sizeof *k->error);
    if (!k->mean || !k->error) return kitchen_close(k), false;
    k->square = k->mean + count, k->y = k->square + count;
    return true;
}

void kitchen_close(kitchen *k) {
    free(k->mean), free(k->error);
}

static long double input(const subject *s, const recipe *r, size_t i) {
    long double x = s->in->x[i];
    if (!s->in->residual || r->residual == IGNORED) return x;
    x += s->in->residual[i];
    return r->residual == ROUNDED ? ref_round(s->low ? s->low_type : NL_F32, x) : x;
}

static void statistics(kitchen *k, const recipe *r) {
    const subject *s = k->s;
    size_t groups = recipe_groups(s, r->axis);
    long double m = (long double)k->count / (groups ? groups : 1);
    for (size_t g = 0; g < groups; g++) {
        k->mean[g] = r->inference ? s->in->running_mean[g] : 0;
        k->square[g] = r->inference ? s->in->running_var[g] : 0;
    }
    for (int pass = r->centred ? 0 : 1; pass < 2 && !r->inference; pass++) {
        long double *sum = pass ? k->square : k->mean;
        for (size_t i = 0; i < k->count; i++) {
            size_t g = recipe_group(s, r->axis, i);
            long double v = input(s, r, i);
            if (pass) v -= k->mean[g], v *= v;
            if (r->low_sums)
                v = ref_round(s->low_type, sum[g] + ref_round(s->low_type, v));
            else
                v += sum[g];
            sum[g] = v;
        }
        for (size_t g = 0; g < groups; g++) sum[g] /= pass && r->unbiased ? m - 1 : m;
    }
    for (size_t g = 0; g < groups; g++) {
        long double v = k->square[g];
        k->square[g] = r->root == INSIDE    ? 1 / sqrtl(v + r->eps)
                       : r->root == OUTSIDE ? 1 / (sqrtl(v) + r->eps)
                                            : 1 / (v + r->eps);
    }
}

void recipe_cook(kitchen *k, const recipe *r) {
    const subject *s = k->s;
    const nl_problem *p = s->p;
    statistics(k, r);
    for (size_t i = 0; i < k->count; i++) {
        size_t g = recipe_group(s, r->axis, i), j = nl_feature_of(p, i);
        long double v = input(s, r, i), gain = 1;
        if (!r->as_it_is) v = (v - k->mean[g]) * k->square[g];
        if (r->casting == NL_CAST_BEFORE_WEIGHT) v = ref_round(p->dtype, v);
        if (s->in->gamma && !r->no_gamma) gain = s->in->gamma[j] + (r->zero_gain ? 1.0L : 0.0L);
        v *= gain;
        if (s->in->beta && !r->no_beta) v += s->in->beta[j];
        v = v * r->factor + r->offset;
        if (r->rounded) v = ref_round(r->stored, v);
        k->y[i] = ref_round(p->dtype, v);
    }
}

double units_off(const subject *s, size_t i, double y, long double low, long double high) {
    size_t j = nl_feature_of(s->p, i);
    long double gauge =
        fabsl(ref_gain(s->p, s->in->gamma, j)) * fmaxl(1, fabsl((long double)s->want->xhat[i]));
    if (s->in->beta) gauge += fabsl((long double)s->in->beta[j]);
    return error_units(s->p->dtype, y, low, high, gauge);
}

/* A NaN where none is due, or none where one is, counts as a number that is off by its own size
 * twice: enough to matter, and it leaves the others visible. */
void recipe_taste(kitchen *k, hypothesis *h) {
    double most = 2 / (double)ref_unit(k->s->p->dtype), sum = 0;
    h->left_largest = 0, h->not_finite = 0;
    for (size_t i = 0; i < k->count; i++) {
        double e = units_off(k->s, i, k->s->y[i], k->y[i], k->y[i]);
        h->left_largest = fmax(h->left_largest, e);
        if (isinf(e)) e = most, h->not_finite++;
        k->error[i] = e, sum += e * e;
    }
    h->left_rms = sqrt(sum / (double)k->count);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The eps that the sizes of theirs ask for: the middle one over the groups. */
double recipe_fit_eps(kitchen *k) {
    const subject *s = k->s;
    size_t groups = ref_groups(s->p), found = 0;
    recipe plain = recipe_right(s);
    double *eps = k->error;
    long double *up = k->mean, *down = k->square;
    for (size_t g = 0; g < groups; g++) up[g] = down[g] = 0;
    for (size_t i = 0; i < k->count; i++) { /* theirs - beta = ratio * gain * xhat, least squares */
        size_t g = recipe_group(s, plain.axis, i), j = nl_feature_of(s->p, i);
        long double v = ref_gain(s->p, s->in->gamma, j) * s->want->xhat[i];
        up[g] += v * (s->y[i] - (s->in->beta ? s->in->beta[j] : 0)), down[g] += v * v;
    }
    for (size_t g = 0; g < groups; g++) {
        long double ratio = up[g] / down[g], var = s->want->var[g];
        double e = (double)((var + s->p->eps) / (ratio * ratio) - var);
        if (isfinite(e)) eps[found++] = e;
    }
    if (found < 3) return -1;
    qsort(eps, found, sizeof *eps, ascending);
    return eps[found / 2];
}

/* A constant factor and a constant offset of y, each by least squares on its own. */
void recipe_fit_line(kitchen *k, double *factor, double *offset) {
    const subject *s = k->s;
    long double yy = 0, xy = 0, d = 0;
    size_t count = 0;
    recipe plain = recipe_right(s);
    recipe_cook(k, &plain);
    for (size_t i = 0; i < k->count; i++) {
        long double x = k->y[i], y = s->y[i];
        if (!isfinite(x) || !isfinite(y)) continue;
        yy += x * x, xy += x * y, d += y - x, count++;
    }
    *factor = yy > 0 ? (double)(xy / yy) : 1;
    *offset = count ? (double)(d / count) : 0;
}
