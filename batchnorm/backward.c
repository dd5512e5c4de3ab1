/* idea   LayerNorm's gradient, with the means over the samples and positions of a channel
 *        (docs/backward.md). gamma is constant in a channel, so it moves to the front:
 *            dx = gamma * r * (dy - mean(dy) - xhat * mean(dy * xhat))
 *            dgamma = sum(dy * xhat),  dbeta = sum(dy)
 * gain   None; one channel at a time, in two passes.
 * fails  With s = 1, memory is accessed with a stride, as in batchnorm/naive.c.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void batchnorm(nl_backward_view v) {
    float m = (float)(v.n * v.s);
    for (size_t j = 0; j < v.c; j++) {
        float mean = v.mean[j], rstd = v.rstd[j], sum_dy = 0, sum_dyx = 0;
        for (size_t i = 0; i < v.n; i++)
            for (size_t k = 0; k < v.s; k++) {
                size_t at = (i * v.c + j) * v.s + k;
                float dy = nl_load(v.t, v.dy, at);
                sum_dy += dy;
                sum_dyx += dy * (nl_load(v.t, v.x, at) - mean) * rstd;
            }
        if (v.dgamma) v.dgamma[j] = sum_dyx;
        if (v.dbeta) v.dbeta[j] = sum_dy;

        float gain = nl_gain(v.gamma, v.plus_one, j);
        for (size_t i = 0; i < v.n; i++)
            for (size_t k = 0; k < v.s; k++) {
                size_t at = (i * v.c + j) * v.s + k;
                float dy = nl_load(v.t, v.dy, at), xhat = (nl_load(v.t, v.x, at) - mean) * rstd;
                nl_store(v.t, v.dx, at, gain * rstd * (dy - sum_dy / m - xhat * (sum_dyx / m)));
            }
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, batchnorm);
}

NL_IMPL(.about = "the gradients as the docs derive them", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1,
        .backward = backward);
