/* What does eps do to a row with a small sigma? Shows the rms of y, and the rms of dx over the rms
 * of dy, with eps inside the root (as in this library) and outside. Half of x is sigma and half
 * -sigma, so that the row's sigma is exact. SPDX-License-Identifier: MIT */
#include "layer.h"
#include "base/random.h"
#include "studies/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { C = 1024 };

static double rms(const float *v) {
    double sum = 0;
    for (size_t i = 0; i < C; i++) sum += (double)v[i] * v[i];
    return sqrt(sum / C);
}

static float mean_product(const float *a, const float *b) {
    double sum = 0;
    for (size_t i = 0; i < C; i++) sum += (double)a[i] * (b ? b[i] : 1);
    return (float)(sum / C);
}

/* x has mean 0, so both layers compute y = x / (s + eps), s = sqrt(mean(x^2)). With z = x / s, dx =
 * (dy - z * s / (s + eps) * mean(dy * z)) / (s + eps). LayerNorm subtracts mean(dy), too. */
static void outside(bool centred, float eps, const float *x, const float *dy, float *y, float *dx) {
    float z[C], mean_dy = centred ? mean_product(dy, NULL) : 0;
    float s = sqrtf(mean_product(x, x)), scale = 1 / (s + eps);
    for (size_t i = 0; i < C; i++) y[i] = x[i] * scale, z[i] = x[i] / s;
    float along = s * scale * mean_product(dy, z);
    for (size_t i = 0; i < C; i++) dx[i] = scale * (dy[i] - mean_dy - z[i] * along);
}

static bool inside(nl_op op, float eps, const float *x, const float *dy, float *y, float *dx) {
    float mean, rstd;
    nl_problem p = {.op = op, .dtype = NL_F32, .n = 1, .c = C, .s = 1, .eps = eps};
    nl_forward_args f = {.x = x, .y = y, .rstd = &rstd};
    nl_backward_args b = {.x = x, .dy = dy, .rstd = &rstd, .dx = dx};
    if (nl_layers[op].centred) f.mean = &mean, b.mean = &mean;
    if (nl_forward(NULL, &p, &f, 1) != NL_OK) return false;
    p.pass = NL_BACKWARD;
    return nl_backward(NULL, &p, &b, 1) == NL_OK;
}

static bool run(study_out *o, bool quick) {
    static const char *const values[] = {"1e-12", "1e-8", "1e-6", "1e-5"};
    static const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM};
    float x[C], dy[C], y[C], dx[C];
    int steps = quick ? 2 : 4; /* number of sigmas per factor of ten */
    for (size_t i = 0; i < C; i++) dy[i] = (float)random_normal(0, i);
    for (size_t e = 0; e < sizeof values / sizeof *values; e++)
        for (int k = 0; k < 4; k++)
            for (int step = -12 * steps; step <= 0; step++) {
                bool is_outside = k % 2;
                nl_op op = ops[k / 2];
                float eps = strtof(values[e], NULL), sigma = (float)pow(10, (double)step / steps);
                char panel[32], series[64];
                for (size_t i = 0; i < C; i++) x[i] = i % 2 ? -sigma : sigma;
                if (is_outside)
                    outside(nl_layers[op].centred, eps, x, dy, y, dx);
                else if (!inside(op, eps, x, dy, y, dx))
                    return false;
                snprintf(series, sizeof series, "%s, eps %s the root", nl_op_name(op),
                         is_outside ? "outside" : "inside");
                snprintf(panel, sizeof panel, "output, eps %s", values[e]);
                study_point(o, panel, series, sigma, rms(y));
                snprintf(panel, sizeof panel, "gradient, eps %s", values[e]);
                study_point(o, panel, series, sigma, rms(dx) / rms(dy));
            }
    return true;
}

const study study_eps =
    {"eps", "What does eps do to rows with a small sigma, inside the root and outside?", run};
