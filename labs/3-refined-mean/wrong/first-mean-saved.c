/* The mistake: y takes the corrected mean, but the first one is saved for backward.
 * SPDX-License-Identifier: MIT */
// expect: points 70..70
// expect: wrong the saved mean
// expect: hint saved before its correction
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
        nl_keep(row, m, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "saves the first mean", .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_REFINED, .lanes = 1, .forward = forward);
