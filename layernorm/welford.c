/* idea   Welford 1962: updates the mean and the sum of squares around it with every element.
 * gain   One reading of x, without one_pass's cancellation.
 * fails  Slow: one division per element, which waits for the previous division. The error grows
 *        with mean/sigma, a little faster than two_pass's, although Welford is said to be better.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float mean = 0, squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float x = nl_x(row, i), d = x - mean;
            mean += d / (i + 1);
            squares += d * (x - mean); /* difference before the update times difference after it */
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

NL_IMPL(.about = "running mean and squares, one division an element", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .strided = true,
        .method = NL_WELFORD, .lanes = 1, .forward = forward);
