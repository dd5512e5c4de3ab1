/* Wrong: Welford's squares take the difference from the old mean twice.
 * SPDX-License-Identifier: MIT */
// expect: points 0..0
// expect: hint right: mean
// expect: wrong the formula
// expect: wrong types and arguments
// expect: wrong rows of one value
// expect: wrong a mean far from zero
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float mean = 0, squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float d = nl_x(row, i) - mean;
            mean += d / (i + 1);
            squares += d * d;
        }
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - mean) * rstd);
        nl_keep(row, mean, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "Welford with the old difference twice", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_WELFORD,
        .lanes = 1, .forward = forward);
