/* idea   A demonstration: not only stored in 16 bits but computed in them, each result rounded to
 *        the storage type before it is used. (Float has more than twice the digits, so rounding
 *        its result gives what a 16-bit unit would.) The squares go into one running sum.
 * gain   What people hope for: twice as many values in a register. Here only the error is real.
 * fails  A square less than half the last digit of the sum is lost: in bf16 a 1 beside 256, in f16
 *        beside 2048, so in long rows the sum all but stops growing. In f16 a square of |x| >= 256
 *        is Inf and y 0, and so it is when the sum passes 65504; below |x| = 2^-12.5 it is 0.
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
