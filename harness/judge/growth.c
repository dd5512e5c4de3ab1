/* SPDX-License-Identifier: MIT */
#include "judge/mechanism.h"
#include "layer.h"

#include <math.h>
#include <stdlib.h>

typedef struct group_sums {
    long double weight, scale, d, x, xx, xd, dd;
} group_sums;

/* Fits (the subject's y) - y = gain * (a + b * xhat + rest) in each group: a and b by least squares
 * with the weights gain^2. */
pattern growth_pattern(const subject *s, double *rest) {
    const nl_problem *p = s->p;
    size_t groups = ref_groups(p);
    group_sums *sums = calloc(groups + 1, sizeof *sums);
    const double *y = s->got[NL_Y];
    pattern out = {0};
    const double m = (double)(p->n * p->c * p->s) / (double)(groups ? groups : 1);
    long double offset = 0, scale = 0, all = 0, scales = 0;
    double firm = 0, shrinking = 0;
    for (size_t i = 0; sums && y && i < p->n * p->c * p->s; i++) {
        size_t j = nl_feature_of(p, i);
        group_sums *g = &sums[nl_group_of(p, i)];
        long double gain = ref_factor(p, s->in->gamma, s->want, i), x = s->want->xhat[i],
                    w = gain * gain;
        if (w == 0) continue;
        long double beta = s->in->beta ? s->in->beta[j] : 0, d = (y[i] - beta) / gain - x;
        long double scale = fabsl(gain) * fmaxl(1, fabsl(x)) + fabsl(beta);
        g->scale += scale * scale, g->weight += w, g->d += w * d, g->x += w * x;
        g->xx += w * x * x, g->xd += w * x * d, g->dd += w * d * d;
    }
    for (size_t i = 0; sums && i < groups; i++) {
        group_sums g = sums[i];
        rest[i] = INFINITY;
        if (!isfinite(g.dd) || !isfinite(g.xx) || g.weight == 0) continue;
        long double xx = g.xx - g.x * g.x / g.weight, xd = g.xd - g.x * g.d / g.weight;
        long double flat = g.d * g.d / g.weight, slope = xx > 0 ? xd * xd / xx : 0;
        if (xx > 0) out.steepest = fmax(out.steepest, (double)fabsl(xd / xx));
        /* a factor is clear if its square is over twelve times the square of its standard error */
        if (slope > 12 * (g.dd - flat - slope) / (m > 2 ? m - 2 : 1)) firm++, shrinking += xd < 0;
        offset += flat, scale += slope, all += g.dd, scales += g.scale, out.groups++;
        rest[i] = (double)(sqrtl(fmaxl(0, g.dd - flat - slope) / g.scale) / ref_unit(p->dtype));
    }
    free(sums);
    if (!(all > 0)) return out;
    out.offset = (double)(offset / all), out.scale = (double)(scale / all);
    out.shrinking = firm >= 8 ? shrinking / firm : 0;
    out.rest = fmax(0, 1 - out.offset - out.scale);
    out.rest_rms = (double)(sqrtl(out.rest * all / scales) / ref_unit(p->dtype));
    return out;
}

growth growth_fit(const double *kappa, const double *error, size_t groups) {
    growth g = {.low = INFINITY};
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (int pass = 0; pass < 2; pass++) { /* first the means, then the products around the means */
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
        if (!pass) x /= (double)g.groups, y /= (double)g.groups, g.log_kappa = x, g.log_error = y;
    }
    if (!(xx > 0 && yy > 0)) return g;
    g.slope = xy / xx, g.correlation = xy / sqrt(xx * yy);
    double left = fmax(0, yy - g.slope * xy) / (double)(g.groups - 2);
    g.half_width = 2 * sqrt(left / xx);
    g.decides = g.groups >= 8 && g.high >= 8 * g.low && g.correlation >= 0.7 && g.half_width < 0.5;
    return g;
}

bool growth_foretells(const growth *g, double kappa, double error) {
    const double line = g->log_error + g->slope * (log(kappa) - g->log_kappa);
    return g->decides && log(error) < line + log(8);
}

static bool grows(const growth *g, double least, double most) {
    return g->decides && g->slope >= least && g->slope <= most;
}

const char *growth_mechanism(const subject *s, const growth *all, const growth *rest,
                             const pattern *p) {
    /* Errors of rounding to nearest are uniform from -1 to 1 unit: rms 1 / sqrt(3). Fitting a
     * factor and an offset to m elements absorbs 2 / m of this noise. */
    double m = (double)(s->p->n * s->p->c * s->p->s) / (double)ref_groups(s->p);
    bool rest_is_rounding = p->rest_rms < 0.6 && p->offset + p->scale > 0.1 + 4 / m;
    if (grows(all, 1.5, 2.6) && p->shrinking > 0.97)
        return "squares around a mean that is a little off, without a correction: the variance is "
               "always too large, by an error that grows as kappa squared";
    if (grows(all, 1.5, 2.6))
        return "one-pass variance, E[x^2] - mean^2: grows with the square of kappa";
    if (grows(all, 0.6, 1.5) && grows(rest, 0.6, 1.5))
        return "the mean folded into the output, x * rstd - mean * rstd: grows with kappa";
    if (grows(all, 0.6, 1.5) && p->offset >= 0.8)
        return "the mean rounded to a float, as in two-pass and Welford: grows with kappa, and is "
               "the same along a row";
    if (s->narrow != NL_F32 && rest_is_rounding && m >= 16)
        return "statistics in 16 bits, or another cause of an offset and a factor in each row";
    return NULL;
}

/* Is y = x * a + b in float? Then, if x * a and b cancel, y is a multiple of x * a's last digit. */
static bool is_folded(const subject *s) {
    const nl_problem *p = s->p;
    size_t far = 0, multiples = 0;
    for (size_t i = 0; p->dtype == NL_F32 && i < p->n * p->c * p->s; i++) {
        const long double gain = ref_factor(p, s->in->gamma, s->want, i);
        const double y = s->got[NL_Y][i],
                     product = (double)(s->in->x[i] * gain * s->want->rstd[nl_group_of(p, i)]);
        if (y == 0 || !(fabs(y) * 16 < fabs(product)) || !isfinite(product)) continue;
        if (fabs(y - (double)expected_at(s->expectations, NL_Y, i).want) >
            ldexp(4, ilogb(product) - 24))
            return false; /* two roundings cannot explain this error */
        far++;
        multiples += fmod(y, ldexp(1, ilogb(product) - 25)) == 0;
    }
    return far >= 16 && multiples >= far - far / 64;
}

const char *growth_at_one_kappa(const subject *s, const double *kappa, const double *error,
                                const pattern *p) {
    size_t far = 0, square = 0;
    if (is_folded(s)) return "the mean folded into the output, x * a + b: y lacks digits of x * a";
    const bool centred = nl_layers[s->p->op].centred;
    if (p->rest < 0.01 && (!centred || p->scale > 0.9) && p->steepest < 0x1.2p-11 &&
        p->steepest > 0x1p-16 && fabs(p->shrinking - 0.5) < 0.45 && s->p->dtype == NL_F32)
        return "each row's rstd is wrong by its own factor, up to 2^-11: an rsqrt of 12 bits, "
               "without a Newton step";
    if (!centred || p->scale < 0.98) return NULL;
    for (size_t g = 0; g < ref_groups(s->p); g++) {
        if (kappa[g] < 16 || error[g] < 2) continue;
        far++,
            square += error[g] > 0.01 * kappa[g] * kappa[g] && error[g] < 4 * kappa[g] * kappa[g];
    }
    if (far < 8 || 4 * square < 3 * far) return NULL;
    return "one-pass variance, E[x^2] - mean^2: each row's factor is wrong by about kappa "
           "squared units";
}
