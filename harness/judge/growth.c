/* Errors that no formula explains are rounding: along a row, and against kappa.
 * SPDX-License-Identifier: MIT */
#include "mechanism.h"

#include <math.h>
#include <stdlib.h>

typedef struct share {
    long double weight, d, x, xx, xd, dd; /* sums over one group */
} share;

static size_t group_of(const nl_problem *p, size_t i) {
    return p->op == NL_BATCHNORM ? i / p->s % p->c : i / p->c;
}

/* In a group, theirs - y = gain * (a + b * xhat + rest): a, b by least squares with gain^2. */
pattern mechanism_pattern(const subject *s) {
    const nl_problem *p = s->p;
    size_t groups = ref_groups(p);
    share *sums = calloc(groups + 1, sizeof *sums);
    pattern out = {0};
    long double offset = 0, scale = 0, all = 0;
    for (size_t i = 0; sums && i < p->n * p->c * p->s; i++) {
        size_t j = i / p->s % p->c;
        share *g = &sums[group_of(p, i)];
        long double gain = ref_gain(p, s->in->gamma, j), x = s->want->xhat[i], w = gain * gain;
        if (w == 0) continue;
        long double d = (s->y[i] - (s->in->beta ? s->in->beta[j] : 0)) / gain - x;
        g->weight += w, g->d += w * d, g->x += w * x;
        g->xx += w * x * x, g->xd += w * x * d, g->dd += w * d * d;
    }
    for (size_t i = 0; sums && i < groups; i++) {
        share g = sums[i];
        if (!isfinite(g.dd) || !isfinite(g.xx) || g.weight == 0) continue;
        long double xx = g.xx - g.x * g.x / g.weight, xd = g.xd - g.x * g.d / g.weight;
        offset += g.d * g.d / g.weight;
        if (xx > 0) scale += xd * xd / xx;
        all += g.dd, out.groups++;
    }
    free(sums);
    if (!(all > 0)) return out;
    out.offset = (double)(offset / all), out.scale = (double)(scale / all);
    out.rest = fmax(0, 1 - out.offset - out.scale);
    return out;
}

growth mechanism_growth(const double *kappa, const double *error, size_t groups) {
    growth g = {.low = INFINITY};
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (int pass = 0; pass < 2; pass++) { /* the middle, then the products around it */
        for (size_t i = 0; i < groups; i++) {
            if (!(kappa[i] > 0 && isfinite(kappa[i]) && error[i] >= 2 && isfinite(error[i])))
                continue;
            double a = log(kappa[i]), b = log(error[i]);
            if (pass) {
                xx += (a - x) * (a - x), xy += (a - x) * (b - y), yy += (b - y) * (b - y);
                continue;
            }
            x += a, y += b, g.groups++;
            g.low = fmin(g.low, kappa[i]), g.high = fmax(g.high, kappa[i]);
        }
        if (g.groups < 3) return g;
        if (!pass) x /= (double)g.groups, y /= (double)g.groups;
    }
    if (!(xx > 0 && yy > 0)) return g;
    g.slope = xy / xx, g.correlation = xy / sqrt(xx * yy);
    double left = fmax(0, yy - g.slope * xy) / (double)(g.groups - 2);
    g.half_width = 2 * sqrt(left / xx);
    g.decides = g.groups >= 8 && g.high >= 8 * g.low && g.correlation >= 0.7 && g.half_width < 0.5;
    return g;
}

const char *mechanism_rounding(const growth *g, const pattern *p) {
    if (!g->decides || g->slope < 0.6 || g->slope > 2.6) return NULL;
    if (g->slope >= 1.5)
        return "one-pass variance, E[x^2] - mean^2: grows with the square of kappa";
    if (p->offset >= 0.8)
        return "the mean rounded to a float, as in two-pass and Welford: grows with kappa, and is "
               "the same along a row";
    return "folded apply, x * rstd - mean * rstd: grows with kappa, and differs along a row";
}
