/* Wrong: the gain of Qwen2RMSNorm, 1 + w, where RMSNorm has gamma.
 * SPDX-License-Identifier: MIT */
// expect: points 10..10
// expect: hint a gain of 1 + gamma for gamma
// expect: wrong the formula
// expect: wrong eps
// expect: wrong rstd
// expect: wrong every width
// expect: wrong 16-bit storage
// expect: wrong in place and residual
// expect: wrong uneven data
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        row.plus_one = true;

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) squares += nl_x(row, i) * nl_x(row, i);
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "a gain of 1 + gamma", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
