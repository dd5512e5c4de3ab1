/* idea   naive's two passes for the statistics, but the division and the root are hoisted:
 *        rstd = 1/sqrt(var + eps) once per row, and one multiplication per element.
 * gain   Less work, but hardly less time: the latency of the additions limits the speed. Hoisting
 *        pays once the sums are vectors.
 * fails  The error grows with mean/sigma, as in naive; and x is still read three times.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float sum = 0;
        for (size_t i = 0; i < v.c; i++) sum += nl_x(row, i);
        float mean = sum / v.c;

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float d = nl_x(row, i) - mean;
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

NL_IMPL(.about = "mean, then the squares around it; rstd once a row", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
