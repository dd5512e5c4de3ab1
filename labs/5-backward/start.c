/* Lab 5: the backward pass of LayerNorm.
 * idea   TODO: the formula of dx, and where it comes from.
 * gain   TODO: what it saves, compared with which rung.
 * fails  TODO: on which data it is wrong or slow.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_backward_view v) {
    nl_clear_gradients(v); /* dgamma and dbeta are 0 now, unless NULL */
    for (size_t r = 0; r < v.n; r++) {
        nl_backward_view row = nl_backward_row(v, r);
        (void)row;
        /* TODO: for each i < v.c, compute dx_i, and add this row's part to dgamma_i and dbeta_i,
         * with g_i = gamma_i * dy_i and xhat_i = (x_i - mean) * rstd.
         *     nl_load(v.t, row.x, i)      x_i; nl_load(v.t, row.dy, i) is dy_i
         *     nl_g(row, i)                g_i
         *     *row.mean, *row.rstd        as forward has saved them
         *     nl_put_dx(row, i, dx)       stores dx_i
         *     v.dgamma[i], v.dbeta[i]     sums over all rows; each may be NULL */
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, layernorm);
}

NL_IMPL(.about = "TODO: a description in one line", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1,
        .backward = backward);
