/* idea   The gradient as docs/backward.md derives it; g = gamma * dy, xhat = (x - mean) * rstd:
 *            dx_i = rstd * (g_i - mean(g) - xhat_i * mean(g * xhat))
 *            dgamma_i = sum over rows of dy_i * xhat_i,  dbeta_i = sum over rows of dy_i
 * gain   None; the formula in two passes over the row, from the statistics that forward saved.
 * fails  dgamma and dbeta are read and written for every row.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_backward_view v) {
    nl_clear_gradients(v);
    for (size_t r = 0; r < v.n; r++) {
        nl_backward_view row = nl_backward_row(v, r);

        float mean = *row.mean, rstd = *row.rstd, mean_g = 0, mean_gx = 0;
        for (size_t i = 0; i < v.c; i++) {
            float dy = nl_load(v.t, row.dy, i), xhat = (nl_load(v.t, row.x, i) - mean) * rstd;
            mean_g += nl_g(row, i);
            mean_gx += nl_g(row, i) * xhat;
            if (v.dgamma) v.dgamma[i] += dy * xhat;
            if (v.dbeta) v.dbeta[i] += dy;
        }
        mean_g /= v.c;
        mean_gx /= v.c;

        for (size_t i = 0; i < v.c; i++) {
            float xhat = (nl_load(v.t, row.x, i) - mean) * rstd;
            nl_put_dx(row, i, rstd * (nl_g(row, i) - mean_g - xhat * mean_gx));
        }
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, layernorm);
}

NL_IMPL(.about = "the gradients as the docs derive them", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .backward = backward);
