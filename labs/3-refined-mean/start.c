/* Lab 3: refine the mean. This is layernorm/two_pass.c, accurate while a row's mean is near zero.
 * TODO: measure the rounding error of the mean in the second pass, and correct for it.
 *
 * idea   TODO: what this kernel does differently, and why that is right.
 * gain   TODO: the expected saving, compared with which rung.
 * fails  TODO: on which sizes or data it is slow, or less exact.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        /* TODO, step 5: a plain sum loses digits in long rows. */
        float sum = 0;
        for (size_t i = 0; i < v.c; i++) sum += nl_x(row, i);
        float m = sum / v.c;

        /* TODO, step 2: also sum d; the mean of d is the correction c. */
        float squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float d = nl_x(row, i) - m;
            squares += d * d;
        }

        /* TODO, step 4: these are squares around m, not around the mean m + c. */
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        /* TODO, step 3: y is still computed with m. */
        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - m) * rstd);
        nl_keep(row, m, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

/* TODO, step 1: .method is a promise. normlab judges errors by the method's bound. The assignment
 * requires NL_REFINED, whose bound does not grow with mean/sigma. */
NL_IMPL(.about = "TODO: a description in one line", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
