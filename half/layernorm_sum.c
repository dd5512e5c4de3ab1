/* idea   A demonstration, as half/rmsnorm_sum.c: two_pass with each result rounded to the storage
 *        type before it is used, and one running sum each for the mean and the squares.
 * gain   The hope is twice as many values in a register; only the error is shown here.
 * fails  A term less than half the last digit of a sum is lost: 1 added to 256 in bf16, or to 2048
 *        in f16. In long rows the sum of squares all but stops growing, and so does that of x if
 *        the mean is not zero. In f16 the square of 256 is Inf, and y is 0.
 * SPDX-License-Identifier: MIT */
#include "half.h"

NL_INLINE void layernorm(nl_view v) {
    half_norm(v, half_running, true);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "16-bit arithmetic, running sums", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16),
        .demonstration = true, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
