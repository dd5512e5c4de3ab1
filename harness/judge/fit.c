/* SPDX-License-Identifier: MIT */
#include "judge/families.h"
#include "base/stats.h"
#include "layer.h"

#include <math.h>
#include <stdlib.h>

double fit_eps(workspace *w) {
    const subject *s = w->s;
    const double *y = s->got[NL_Y];
    size_t groups = ref_groups(s->p), found = 0;
    long double *up = w->mean, *down = w->rstd;
    double *eps = y ? malloc((groups + 1) * sizeof *eps) : NULL;
    for (size_t g = 0; g < groups; g++) up[g] = down[g] = 0;
    for (size_t i = 0; eps && i < w->count; i++) { /* theirs - beta = ratio * gain * xhat */
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
