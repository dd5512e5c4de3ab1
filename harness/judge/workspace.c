/* SPDX-License-Identifier: MIT */
#include "base/stats.h"
#include "judge/mechanism.h"
#include "layer.h"

#include <math.h>
#include <stdlib.h>

/* Opens a workspace, and fills scale and allowed once for all formulas, since the bounds of column
 * sums are slow. `allowed` is the bound plus one unit, since the formula's value is rounded too. */
bool workspace_open(workspace *w, const subject *s) {
    size_t count = s->p->n * s->p->c * s->p->s, numbers = 0;
    *w = (workspace){.s = s, .count = count, .to = count};
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (s->got[o]) numbers += w->of[o].count = expected_count(s->p, o);
    w->mean = calloc(count + 1, 4 * sizeof *w->mean);
    w->memory = calloc(numbers + 1, 4 * sizeof *w->memory);
    w->open = calloc(numbers + 1, sizeof *w->open);
    if (!w->mean || !w->memory || !w->open) return workspace_close(w), false;
    w->rstd = w->mean + count, w->g = w->rstd + count, w->gx = w->g + count;
    double *next = w->memory;
    bool *open = w->open;
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        column *k = &w->of[o];
        if (!s->got[o]) continue;
        k->value = next, k->scale = next + k->count, k->allowed = next + 2 * k->count;
        k->was = next + 3 * k->count, k->open = open;
        next += 4 * k->count, open += k->count;
        for (size_t i = 0; i < k->count; i++) {
            const expected_value d = expected_at(s->expectations, o, i);
            const bool here = !s->only || (o == s->only->output && region_has(s, s->only, i));
            k->scale[i] = here ? (double)d.scale : INFINITY;
            k->allowed[i] = d.promised ? 1 + d.allowed.probable : INFINITY;
        }
    }
    return true;
}

void workspace_close(workspace *w) {
    free(w->mean), free(w->memory), free(w->open);
    *w = (workspace){0};
}

#define USUAL 64.0 /* error, in units, of a float sum that has no bound */

/* A wrong NaN, or a missing NaN, counts as an error of twice the number's size: enough to matter,
 * but too little to hide the other errors. */
mismatch formula_residual(workspace *w, bool right) {
    double sum = 0, was = 0;
    size_t count = 0;
    mismatch left = {0};
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        const column *k = &w->of[o];
        const nl_dtype t = expected_type(w->s->expectations, o);
        const bool all = w->to - w->from == w->count;
        if (!all && o != subject_tensor(w->s)) continue;
        for (size_t i = all ? 0 : w->from; i < (all ? k->count : w->to); i++) {
            const double v = k->value[i];
            if (isinf(k->scale[i]) || k->open[i]) continue;
            double e = error_units(t, w->s->got[o][i], v, v, k->scale[i]);
            const double larger =
                fmax(1, fabs(v) / k->scale[i]); /* a larger number has a larger rounding error */
            const bool within = e <= k->allowed[i] * larger;
            left.largest = fmax(left.largest, e), left.beyond += !within;
            left.finite += isfinite(w->s->got[o][i]);
            left.hits += within && !(k->was[i] <= 8 * k->allowed[i]);
            /* if y has 16 bits, the usual rounding error of float outputs does not count */
            if (t != w->s->p->dtype && e <= (isinf(k->allowed[i]) ? USUAL : k->allowed[i])) e = 0;
            if (isinf(e)) e = 2 / (double)ref_unit(t), left.not_finite++;
            if (right) k->was[i] = e;
            sum += e * e, was += k->was[i] * k->was[i], count++;
        }
    }
    left.rms = count ? sqrt(sum / (double)count) : 0;
    left.was = count ? sqrt(was / (double)count) : 0;
    return left;
}

double fit_eps(workspace *w) {
    const subject *s = w->s;
    const double *y = s->got[NL_Y];
    size_t groups = ref_groups(s->p), found = 0;
    long double *up = w->mean, *down = w->rstd;
    double *eps = y ? malloc((groups + 1) * sizeof *eps) : NULL;
    for (size_t g = 0; g < groups; g++) up[g] = down[g] = 0;
    for (size_t i = 0; eps && i < w->count;
         i++) { /* the subject's y - beta = ratio * gain * xhat */
        size_t g = nl_group_of(s->p, i), j = nl_feature_of(s->p, i);
        long double v = ref_factor(s->p, s->in->gamma, s->want, i) * s->want->xhat[i];
        up[g] += v * (y[i] - (s->in->beta ? s->in->beta[j] : 0)), down[g] += v * v;
    }
    for (size_t g = 0; eps && g < groups; g++) {
        long double ratio = up[g] / down[g], var = s->want->var[g];
        double e = (double)((var + s->p->eps) / (ratio * ratio) - var);
        if (isfinite(e)) eps[found++] = e;
    }
    const double median = found < 3 ? -1 : stats_quantile(eps, found, 0.5);
    free(eps);
    return median;
}

void fit_line(workspace *w, double *factor, double *offset) {
    const subject *s = w->s;
    const column *k = &w->of[subject_tensor(s)];
    long double yy = 0, xy = 0, d = 0;
    size_t count = 0;
    formula plain = formula_right(s);
    formula_evaluate(w, &plain);
    for (size_t i = 0; i < k->count; i++) {
        long double x = k->value[i], y = s->got[subject_tensor(s)][i];
        if (!isfinite(x) || !isfinite(y)) continue;
        yy += x * x, xy += x * y, d += y - x, count++;
    }
    *factor = yy > 0 ? (double)(xy / yy) : 1;
    *offset = count ? (double)(d / count) : 0;
}
