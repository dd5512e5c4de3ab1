/* SPDX-License-Identifier: MIT */
#include "claims/quantity.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_OF_W = 64 };

static double as(nl_dtype t, double v) {
    return (double)ref_round(t, v);
}

static double gain_of(const fixture *f, size_t j) {
    return (double)ref_gain(&f->c.problem, f->data.input[NL_GAMMA], j);
}

double folds_gain(const fixture *f) {
    const nl_problem *p = &f->c.problem;
    const nl_dtype t = p->dtype;
    double off[2] = {0, 0}; /* unfolded, folded */
    for (size_t k = 0; k < ROWS_OF_W; k++)
        for (size_t r = 0; r < p->n; r++) {
            double want = 0, z[2] = {0, 0};
            for (size_t j = 0; j < p->c; j++) {
                const double w = as(t, random_normal(41, k * p->c + j) / sqrt((double)p->c)),
                             g = as(t, gain_of(f, j)), xhat = f->want.want.xhat[r * p->c + j];
                want += w * g * xhat;
                z[0] += w * as(t, g * xhat);
                z[1] += as(t, w * g) * as(t, xhat);
            }
            for (int i = 0; i < 2; i++) off[i] += (z[i] - want) * (z[i] - want);
        }
    return sqrt(off[1] / off[0]);
}

/* Normalizes c stored values: xhat[j] = (x[j] - mean) * rstd, or x[j] * rstd. */
static void normalize(const double *x, size_t c, bool centred, double eps, double *xhat) {
    double mean = 0, squares = 0;
    for (size_t j = 0; j < c && centred; j++) mean += x[j] / (double)c;
    for (size_t j = 0; j < c; j++) squares += (x[j] - mean) * (x[j] - mean) / (double)c;
    for (size_t j = 0; j < c; j++) xhat[j] = (x[j] - mean) / sqrt(squares + eps);
}

double folds_centring(const fixture *f) {
    const nl_problem *p = &f->c.problem;
    const double eps = (double)p->eps;
    double *row = malloc((p->c + 1) * 4 * sizeof *row), off[2] = {0, 0};
    if (!row) return NAN;
    double *stored = row + p->c, *want = stored + p->c, *got = want + p->c;
    for (size_t r = 0; r < p->n; r++) {
        double mean = 0;
        for (size_t j = 0; j < p->c; j++) {
            row[j] = f->want.in.x[r * p->c + j];
            mean += row[j] / (double)p->c;
        }
        normalize(row, p->c, true, eps, want);
        for (int i = 0; i < 2; i++) { /* LayerNorm of x, and RMSNorm of x - mean */
            for (size_t j = 0; j < p->c; j++) stored[j] = as(NL_BF16, row[j] - (i ? mean : 0));
            normalize(stored, p->c, !i, eps, got);
            for (size_t j = 0; j < p->c; j++) {
                const double error = gain_of(f, j) * (got[j] - want[j]);
                off[i] += error * error;
            }
        }
    }
    free(row);
    return sqrt(off[1] / off[0]);
}

double folds_ones(const fixture *f, bool sign) {
    const nl_problem *p = &f->c.problem;
    double sum = 0;
    for (size_t r = 0; r < p->n; r++) {
        const double mean = (double)f->want.want.mean[r], var = (double)f->want.want.var[r],
                     cosine = mean / sqrt(var + mean * mean);
        sum += sign ? cosine : fabs(cosine);
    }
    return 100 * sum / (double)p->n;
}

double folds_from_y(const fixture *f) {
    const nl_problem *p = &f->c.problem;
    const ref_outputs *o = &f->want.want;
    double off[2] = {0, 0};
    for (size_t r = 0; r < p->n; r++) {
        const double mean = (double)o->mean[r], rstd = (double)o->rstd[r];
        for (int from_y = 0; from_y < 2; from_y++) {
            double g = 0, gx = 0;
            for (int pass = 0; pass < 2; pass++)
                for (size_t j = 0; j < p->c; j++) {
                    const size_t i = r * p->c + j;
                    const double gain = gain_of(f, j), b = random_normal(42, j), /* beta */
                        dy = f->want.in.dy[i],
                                 y = as(p->dtype, gain * (f->want.in.x[i] - mean) * rstd + b),
                                 xhat = from_y ? (y - b) / gain : (f->want.in.x[i] - mean) * rstd;
                    if (pass == 0) {
                        g += gain * dy / (double)p->c, gx += gain * dy * xhat / (double)p->c;
                        continue;
                    }
                    const double dx = as(p->dtype, rstd * (gain * dy - g - xhat * gx)),
                                 error = (dx - o->dx[i]) / o->dx_scale[i];
                    off[from_y] += isnan(error) ? INFINITY : error * error;
                }
        }
    }
    return sqrt(off[1] / off[0]);
}
