/* idea   A demonstration of arithmetic in 16 bits: each result is rounded to the storage type
 *        before it is used. (Float has more than twice the digits, so the results are those of a
 *        16-bit unit.) One running sum adds the squares.
 * gain   The hope is twice as many values in a register; only the error is shown here.
 * fails  A square is lost if it is at most half the last digit of the sum: 1 added to 256 in bf16,
 *        or to 2048 in f16 (ties go to even). So in long rows the sum almost stops growing. In f16
 *        the square of 256 and a sum above 65504 are Inf, and y is 0; the square of 2^-13 is 0.
 * SPDX-License-Identifier: MIT */
#include "half.h"

NL_INLINE void rmsnorm(nl_view v) {
    half_norm(v, half_running, false);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "16-bit arithmetic, one running sum of squares",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .demonstration = true, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
