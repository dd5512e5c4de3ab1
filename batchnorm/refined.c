/* idea   layernorm/refined.c, per channel: the second pass sums d = x - m, with the rounded mean m,
 *        as well as d^2; the mean of d is the rounding error of m. The first pass sums x - x_0.
 * gain   The error no longer grows with mean/sigma, at no extra reading; a constant channel comes
 *        out as beta exactly.
 * fails  Reads x three times, as two_pass does.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void batchnorm(nl_view v) {
    float m = (float)(v.n * v.s);
    float *mean = v.scratch, *rest = mean + v.c, *rstd = rest + v.c;

    for (size_t j = 0; j < v.c; j++) rest[j] = rstd[j] = 0;
    for (size_t i = 0; i < v.n; i++)
        for (size_t j = 0; j < v.c; j++) {
            float first = nl_x(v, nl_at(v, 0, j, 0)), shifted = rest[j];
            for (size_t k = 0; k < v.s; k++) shifted += nl_x(v, nl_at(v, i, j, k)) - first;
            rest[j] = shifted;
        }
    for (size_t j = 0; j < v.c; j++) {
        mean[j] = nl_x(v, nl_at(v, 0, j, 0)) + rest[j] / m;
        rest[j] = 0;
    }

    for (size_t i = 0; i < v.n; i++)
        for (size_t j = 0; j < v.c; j++) {
            float sum = rest[j], squares = rstd[j];
            for (size_t k = 0; k < v.s; k++) {
                float d = nl_x(v, nl_at(v, i, j, k)) - mean[j];
                sum += d;
                squares += d * d;
            }
            rest[j] = sum, rstd[j] = squares;
        }
    for (size_t j = 0; j < v.c; j++) {
        float sum = rest[j];
        rest[j] = sum / m;
        float var = (rstd[j] - rest[j] * sum) / m;
        rstd[j] = 1 / sqrtf(var + v.eps);
        nl_keep_channel(v, j, mean[j] + rest[j], var, rstd[j]);
    }

    for (size_t i = 0; i < v.n; i++)
        for (size_t j = 0; j < v.c; j++)
            for (size_t k = 0; k < v.s; k++) {
                size_t at = nl_at(v, i, j, k);
                nl_put(v, at, j, (nl_x(v, at) - mean[j] - rest[j]) * rstd[j]);
            }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, batchnorm);
}

static size_t scratch(const nl_problem *p) {
    return 3 * p->c * sizeof(float);
}

NL_IMPL(.about = "two-pass that carries the mean's rounding error along",
        .ops = NL_BIT(NL_BATCHNORM), .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES,
        .method = NL_REFINED, .lanes = 1, .forward = forward, .scratch = scratch);
