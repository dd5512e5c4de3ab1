/* Wrong: loads and stores by itself: without the residual, and through gamma where it is NULL.
 * SPDX-License-Identifier: MIT */
// expect: points 50..50
// expect: hint read through a NULL pointer
// expect: hint of residual_out were never written
// expect: wrong arguments left out
// expect: wrong in place and residual
// expect: wrong 16-bit storage
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) squares += nl_load(v.t, row.x, i) * nl_load(v.t, row.x, i);
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++)
            nl_store(v.t, row.y, i, nl_load(v.t, row.x, i) * rstd * v.gamma[i]);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "its own loads and stores", .ops = NL_BIT(NL_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS,
        .lanes = 1, .forward = forward);
