/* idea   A demonstration: two_pass with each result rounded to the storage type before it is used,
 *        and one running sum each for the mean and the squares. As half/rmsnorm_sum.c.
 * gain   What people hope for: twice as many values in a register. Here only the error is real.
 * fails  A term less than half the last digit of a sum is lost: in bf16 a 1 beside 256, in f16
 *        beside 2048. The sum of squares all but stops growing in long rows, and so does that of x
 *        where the mean is not zero. In f16 the square of 256 is Inf, and y 0.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    float c = nl_round(v.t, v.c);
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float sum = 0;
        for (size_t i = 0; i < v.c; i++) sum = nl_round(v.t, sum + nl_round(v.t, nl_x(row, i)));
        float mean = nl_round(v.t, sum / c);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float d = nl_round(v.t, nl_round(v.t, nl_x(row, i)) - mean);
            squares = nl_round(v.t, squares + nl_round(v.t, d * d));
        }
        float var = nl_round(v.t, squares / c);
        float root = nl_round(v.t, sqrtf(nl_round(v.t, var + nl_round(v.t, v.eps))));
        float rstd = nl_round(v.t, 1 / root);

        for (size_t i = 0; i < v.c; i++) {
            float d = nl_round(v.t, nl_round(v.t, nl_x(row, i)) - mean);
            nl_put_y(row, i, nl_round(v.t, d * rstd));
        }
        nl_keep(row, mean, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "16-bit arithmetic, running sums", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16),
        .demonstration = true, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
