/* Lab 1: RMSNorm from the formula.
 *     y_i = gamma_i * xhat_i,   xhat_i = x_i * rstd,   rstd = 1 / sqrt(mean(x^2) + eps)
 * idea   TODO: what this kernel does, and why that is right.
 * gain   TODO: the saving, compared with which rung.
 * fails  TODO: on which data it is wrong or slow.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) { /* v.n rows of v.c elements */
        nl_view row = nl_row(v, r);
        (void)row;
        /* TODO: for each i < v.c, store y_i; then save rstd for the backward pass. v.eps is eps.
         *     nl_x(row, i)              x_i as a float, its residual added
         *     nl_put_y(row, i, xhat)    multiplies xhat by gamma_i and stores y_i
         *     nl_keep(row, 0, rstd)     saves rstd; the 0 is the mean, which RMSNorm lacks */
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "TODO: a description in one line", .ops = NL_BIT(NL_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
