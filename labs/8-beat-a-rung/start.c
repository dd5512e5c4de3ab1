/* idea   TODO: what this kernel does differently, and why that is right.
 * gain   TODO: what that saves, compared with which rung. Predict it before measuring.
 * fails  TODO: on which sizes or data it is slow, or less exact.
 * SPDX-License-Identifier: MIT */
#include "kernel.h" /* or "vec/vec.h" */

/* layernorm/two_pass.c, the rung to beat. */
NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float sum = 0;
        for (size_t i = 0; i < v.c; i++) sum += nl_x(row, i); /* TODO */
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

NL_IMPL(.about = "TODO", .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
