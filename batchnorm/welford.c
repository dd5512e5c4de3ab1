/* idea   Welford 1962 per channel: every value updates the mean and the sum of squares around it.
 * gain   One reading for the statistics, without one_pass's cancellation. With s = 1 the divisions
 *        of adjacent channels do not wait for each other.
 * fails  The error grows with mean/sigma, a little faster than two_pass's. Slow with s > 1.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void batchnorm(nl_view v) {
    float m = (float)(v.n * v.s), *mean = v.scratch, *rstd = mean + v.c;

    for (size_t j = 0; j < v.c; j++) mean[j] = rstd[j] = 0;
    for (size_t i = 0; i < v.n; i++)
        for (size_t j = 0; j < v.c; j++) {
            float m_k = mean[j], squares = rstd[j];
            for (size_t k = 0; k < v.s; k++) {
                float x = nl_x(v, nl_at(v, i, j, k)), d = x - m_k;
                m_k += d / (i * v.s + k + 1);
                squares += d * (x - m_k);
            }
            mean[j] = m_k, rstd[j] = squares;
        }
    for (size_t j = 0; j < v.c; j++) {
        float var = rstd[j] / m;
        rstd[j] = 1 / sqrtf(var + v.eps);
        nl_keep_channel(v, j, mean[j], var, rstd[j]);
    }

    for (size_t i = 0; i < v.n; i++)
        for (size_t j = 0; j < v.c; j++)
            for (size_t k = 0; k < v.s; k++) {
                size_t at = nl_at(v, i, j, k);
                nl_put(v, at, j, (nl_x(v, at) - mean[j]) * rstd[j]);
            }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, batchnorm);
}

static size_t scratch(const nl_problem *p) {
    return 2 * p->c * sizeof(float);
}

NL_IMPL(.about = "running mean and squares per channel", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_WELFORD, .lanes = 1,
        .forward = forward, .scratch = scratch);
