/* Lab 2: LayerNorm that reads the row once for its statistics.
 *     y_i = gamma_i * xhat_i + beta_i,   xhat_i = (x_i - mean) * rstd,   rstd = 1 / sqrt(var + eps)
 * idea   TODO: what this kernel does, and why that is right.
 * gain   TODO: what it saves, compared with which rung.
 * fails  TODO: on which data it is wrong or slow.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) { /* v.n rows of v.c elements */
        nl_view row = nl_row(v, r);
        (void)row;
        /* TODO: compute mean and var in one loop over the row, store y, then save mean and rstd.
         *     nl_x(row, i)                x_i as a float, its residual added
         *     nl_put_y(row, i, xhat)      applies gamma_i and beta_i and stores y_i
         *     nl_keep(row, mean, rstd)    saves them for the backward pass */
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

/* TODO: .method is a promise about the errors, which normlab checks: NL_ONE_PASS for E[x^2] -
 * mean^2, NL_SHIFTED for this formula around a K near the mean, NL_WELFORD for a running update. */
NL_IMPL(.about = "TODO: a description in one line", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_ONE_PASS, .lanes = 1,
        .forward = forward);
