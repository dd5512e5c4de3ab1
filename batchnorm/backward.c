/* idea   The gradient as docs/backward.md derives it: LayerNorm's, with the means over the samples
 *        and positions of a channel, where gamma is constant and comes out in front:
 *            dx = gamma * r * (dy - mean(dy) - xhat * mean(dy * xhat))
 *            dgamma = sum(dy * xhat),  dbeta = sum(dy)
 * gain   None; one channel at a time, in two passes.
 * fails  Strided like batchnorm/naive.c where s = 1.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    float m = (float)(p->n * p->s);
    for (size_t j = 0; j < p->c; j++) {
        float mean = a->mean[j], rstd = a->rstd[j], sum_dy = 0, sum_dyx = 0;
        for (size_t i = 0; i < p->n; i++)
            for (size_t k = 0; k < p->s; k++) {
                size_t at = (i * p->c + j) * p->s + k;
                float dy = nl_load(p->dtype, a->dy, at);
                sum_dy += dy;
                sum_dyx += dy * (nl_load(p->dtype, a->x, at) - mean) * rstd;
            }
        float gain = a->gamma ? a->gamma[j] : 1;
        for (size_t i = 0; i < p->n; i++)
            for (size_t k = 0; k < p->s; k++) {
                size_t at = (i * p->c + j) * p->s + k;
                float dy = nl_load(p->dtype, a->dy, at);
                float xhat = (nl_load(p->dtype, a->x, at) - mean) * rstd;
                float dx = gain * rstd * (dy - sum_dy / m - xhat * (sum_dyx / m));
                nl_store(p->dtype, a->dx, at, dx);
            }
        if (a->dgamma) a->dgamma[j] = sum_dyx;
        if (a->dbeta) a->dbeta[j] = sum_dy;
    }
}

NL_IMPL(.about = "the gradients as the docs derive them", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 1, .method = NL_TWO_PASS,
        .lanes = 1, .backward = backward);
