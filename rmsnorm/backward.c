/* idea   The gradient as docs/backward.md derives it, with g = gain * dy and xhat = x * rstd:
 *            dx_i = rstd * (g_i - xhat_i * mean(g * xhat))
 *            dgamma_i = sum over rows of dy_i * xhat_i
 *        gamma stays inside the mean: moving gamma to the front is right only when it is constant.
 * gain   No mean(g) and no dbeta: saves the cost of centring in layernorm/backward.c.
 * fails  dgamma is read and written for every row.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_backward_view v) {
    nl_clear_gradients(v);
    for (size_t r = 0; r < v.n; r++) {
        nl_backward_view row = nl_backward_row(v, r);

        float rstd = *row.rstd, mean_gx = 0;
        for (size_t i = 0; i < v.c; i++) {
            float dy = nl_load(v.t, row.dy, i), xhat = nl_load(v.t, row.x, i) * rstd;
            mean_gx += nl_g(row, i) * xhat;
            if (v.dgamma) v.dgamma[i] += dy * xhat;
        }
        mean_gx /= v.c;

        for (size_t i = 0; i < v.c; i++) {
            float xhat = nl_load(v.t, row.x, i) * rstd;
            nl_put_dx(row, i, rstd * (nl_g(row, i) - xhat * mean_gx));
        }
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "the gradients as the docs derive them",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_BACKWARD),
        .dtypes = NL_ALL_DTYPES, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .backward = backward);
