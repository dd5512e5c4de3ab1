/* idea   rmsnorm/backward.c, with a row's constants hoisted out of its loops:
 *            mean(g * xhat) * xhat_i = slope * x_i,  slope = rstd^2 * mean(g * x)
 *        so the first loop is one sum of g * x, and the second computes dx and dgamma.
 * gain   Saves one multiplication per element, or two if dgamma is not wanted.
 * fails  The latency of the additions hides the multiplications, so the gain is small.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_backward_view v) {
    nl_clear_gradients(v);
    for (size_t r = 0; r < v.n; r++) {
        nl_backward_view row = nl_backward_row(v, r);

        float rstd = *row.rstd, sum_gx = 0;
        for (size_t i = 0; i < v.c; i++) sum_gx += nl_g(row, i) * nl_load(v.t, row.x, i);
        float slope = rstd * (rstd * (sum_gx / v.c));

        for (size_t i = 0; i < v.c; i++) {
            float dy = nl_load(v.t, row.dy, i), x = nl_load(v.t, row.x, i);
            nl_put_dx(row, i, rstd * (nl_g(row, i) - x * slope));
            if (v.dgamma) v.dgamma[i] += dy * (x * rstd);
        }
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "the gradients, row constants hoisted",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_BACKWARD),
        .dtypes = NL_ALL_DTYPES, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .backward = backward);
