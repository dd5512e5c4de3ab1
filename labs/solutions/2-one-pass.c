/* Lab 2, a solution: both sums around the first element.
 * idea   Subtracting a constant K does not change the variance. One loop sums d = x - K and d^2,
 *        with K = x_0. Then mean = K + c with c = mean(d), var = mean(d^2) - c^2, and y uses
 *        d - c: two small numbers.
 * gain   Reads the row once less than layernorm/two_pass; and no error grows with kappa.
 * fails  If x_0 is itself far from the mean, as in a row that begins with an outlier.
 * SPDX-License-Identifier: MIT */
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
        float c = sum / v.c;
        float rstd = 1 / sqrtf(squares / v.c - c * c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - shift - c) * rstd);
        nl_keep(row, shift + c, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "one reading, shifted by the first element", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_SHIFTED, .lanes = 1,
        .forward = forward);
