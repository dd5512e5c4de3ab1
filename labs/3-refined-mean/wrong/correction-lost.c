/* The mistake: c is added to m before m is subtracted. m + c is rounded to the float that m was,
 * and the correction is lost. The order of the operations is the idea of this lab.
 * SPDX-License-Identifier: MIT */
// expect: points 35..35
// expect: wrong a mean far from zero
// expect: wrong the variance far from zero
// expect: wrong long rows
// expect: hint the mean rounded to a float
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
        float mean = m + c;

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - mean) * rstd);
        nl_keep(row, mean, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "m + c in one float", .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_REFINED, .lanes = 1, .forward = forward);
