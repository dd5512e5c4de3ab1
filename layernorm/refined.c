/* idea   A float seldom holds the mean exactly, so keep the error of m, the rounded mean. The
 *        second pass sums d = x - m as well as d^2. The mean c of d is that error: var is
 *        mean(d^2) - c^2, and y uses (x - m) - c. The first pass sums x - x_0: small numbers.
 * gain   The error no longer grows with mean/sigma, at no extra pass: the top of the accuracy
 *        ladder, and constant rows come out as beta exactly.
 * fails  Reads x three times, as two_pass does. (x - m)^2 overflows where |x - m| exceeds 1e19.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float first = nl_x(row, 0), shifted = 0;
        for (size_t i = 0; i < v.c; i++) shifted += nl_x(row, i) - first;
        float m = first + shifted / v.c;

        float sum = 0, squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float d = nl_x(row, i) - m;
            sum += d;
            squares += d * d;
        }
        float c = sum / v.c;
        float rstd = 1 / sqrtf((squares - c * sum) / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - m - c) * rstd);
        nl_keep(row, m + c, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "two-pass that carries the mean's rounding error along",
        .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES,
        .strided = true, .method = NL_REFINED, .lanes = 1, .forward = forward);
