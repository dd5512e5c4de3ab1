/* idea   The gradient as docs/backward.md derives it, with g = gain * dy and xhat = x * rstd:
 *            dx_i = rstd * (g_i - xhat_i * mean(g * xhat))
 *            dgamma_i = sum over rows of dy_i * xhat_i
 *        gamma stays inside the mean: taking it out in front is right only when it is constant.
 * gain   No mean(g) and no dbeta: less than layernorm/backward.c by what the shift costs.
 * fails  dgamma is read and written for every row.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    size_t c = p->c;
    for (size_t i = 0; a->dgamma && i < c; i++) a->dgamma[i] = 0;
    for (size_t r = 0; r < p->n; r++) {
        float rstd = a->rstd[r], mean_gx = 0;
        for (size_t i = 0; i < c; i++) {
            float dy = nl_load(p->dtype, a->dy, r * c + i);
            float xhat = nl_load(p->dtype, a->x, r * c + i) * rstd;
            mean_gx += nl_gain_of(p, a, i) * dy * xhat;
            if (a->dgamma) a->dgamma[i] += dy * xhat;
        }
        mean_gx /= c;
        for (size_t i = 0; i < c; i++) {
            float dy = nl_load(p->dtype, a->dy, r * c + i);
            float xhat = nl_load(p->dtype, a->x, r * c + i) * rstd;
            nl_put_dx(p, a, r * c + i, rstd * (nl_gain_of(p, a, i) * dy - xhat * mean_gx));
        }
    }
}

NL_IMPL(.about = "the gradients as the docs derive them",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_BACKWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 1, .method = NL_TWO_PASS, .lanes = 1,
        .backward = backward);
