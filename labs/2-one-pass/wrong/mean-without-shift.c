/* Wrong: the mean of x - x_0 is saved as the mean of x. y is right.
 * SPDX-License-Identifier: MIT */
// expect: points 0..0
// expect: hint the mean was saved without its shift
// expect: wrong the formula
// expect: wrong types and arguments
// expect: wrong a mean far from zero
// expect: wrong rows of one value
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float shift = nl_x(row, 0), sum = 0, squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float d = nl_x(row, i) - shift;
            sum += d;
            squares += d * d;
        }
        float c = sum / v.c, mean = shift + c;
        float rstd = 1 / sqrtf(squares / v.c - c * c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - mean) * rstd);
        nl_keep(row, c, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "the mean without its shift", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_SHIFTED,
        .lanes = 1, .forward = forward);
