/* Wrong: rstd is not saved, so that the backward pass would have none.
 * SPDX-License-Identifier: MIT */
// expect: points 70..70
// expect: hint of rstd were never written
// expect: wrong rstd
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) squares += nl_x(row, i) * nl_x(row, i);
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "rstd is not kept", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
