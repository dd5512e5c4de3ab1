/* idea   A demonstration like half/rmsnorm_sum.c: two_pass that rounds each result to the storage
 *        type before using it. The mean and the squares have one running sum each.
 * gain   The hope is twice as many values in a register; only the error is shown here.
 * fails  A term is lost if it is at most half the last digit of the sum: 1 added to 256 in bf16,
 *        or to 2048 in f16 (ties go to even). In long rows the sum of squares almost stops growing;
 *        the sum of x also does if the mean is not zero. In f16 the square of 256 is Inf, and y
 *        is 0.
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
