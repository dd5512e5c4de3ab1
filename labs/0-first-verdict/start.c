/* Lab 0: RMSNorm with two mistakes. TODO: find both mistakes with `normlab try`, and mend them.
 * idea   the formula: the mean of the squares, then rstd, then a multiplication for each element.
 * gain   one root and one division a row; rmsnorm/naive computes them for each element.
 * fails  TODO: on which data each mistake shows.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) squares += nl_x(row, i) * nl_x(row, i);
        float rstd = 1 / (sqrtf(squares / v.c) + v.eps);

        for (size_t i = 0; i + 1 < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "RMSNorm with two mistakes", .ops = NL_BIT(NL_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
