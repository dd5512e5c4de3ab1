/* Wrong: eps is added to the root, not under it. It shows where x is small or eps is not.
 * SPDX-License-Identifier: MIT */
// expect: points 70..70
// expect: hint eps outside the root
// expect: wrong eps
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) squares += nl_x(row, i) * nl_x(row, i);
        float rstd = 1 / (sqrtf(squares / v.c) + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "eps outside the root", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
