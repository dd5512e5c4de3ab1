/* idea   layernorm/backward.c, with a row's constants hoisted out of its loops. With d = x - mean
 *            mean(g * xhat) * xhat_i = slope * d_i,  slope = rstd^2 * mean(g * d)
 *        so the first loop is two sums, and the second computes dx, dgamma and dbeta from one d.
 * gain   Saves one multiplication per element, or two if dgamma is not wanted.
 * fails  The latency of the additions hides the multiplications, so the gain is small.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_backward_view v) {
    nl_clear_gradients(v);
    for (size_t r = 0; r < v.n; r++) {
        nl_backward_view row = nl_backward_row(v, r);

        float mean = *row.mean, rstd = *row.rstd, sum_g = 0, sum_gd = 0;
        for (size_t i = 0; i < v.c; i++) {
            sum_g += nl_g(row, i);
            sum_gd += nl_g(row, i) * (nl_load(v.t, row.x, i) - mean);
        }
        float mean_g = sum_g / v.c, slope = rstd * (rstd * (sum_gd / v.c));

        for (size_t i = 0; i < v.c; i++) {
            float dy = nl_load(v.t, row.dy, i), d = nl_load(v.t, row.x, i) - mean;
            nl_put_dx(row, i, rstd * (nl_g(row, i) - mean_g - d * slope));
            if (v.dgamma) v.dgamma[i] += dy * (d * rstd);
            if (v.dbeta) v.dbeta[i] += dy;
        }
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, layernorm);
}

NL_IMPL(.about = "the gradients, row constants hoisted", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .backward = backward);
