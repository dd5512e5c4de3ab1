/* Wrong: E[x^2] - mean^2, which promises to be shifted.
 * SPDX-License-Identifier: MIT */
// expect: points 35..35
// expect: hint one-pass variance, E[x^2] - mean^2
// expect: wrong a mean far from zero
// expect: wrong rows of one value
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float sum = 0, squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float x = nl_x(row, i);
            sum += x;
            squares += x * x;
        }
        float mean = sum / v.c, var = squares / v.c - mean * mean;
        float rstd = 1 / sqrtf(var + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - mean) * rstd);
        nl_keep(row, mean, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "E[x^2] - mean^2", .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_SHIFTED, .lanes = 1, .forward = forward);
