/* idea   A demonstration: rmsnorm_sum with a compensated sum (Kahan 1965, Communications of the ACM
 *        8(1)). The rounding error of an addition is computed and corrects the next square.
 * gain   The sum is right to about its last digit, as long as the row's length times the square of
 *        the 16-bit rounding error is small.
 * fails  A square or the sum may leave the range of the storage type, as in rmsnorm_sum; then y is
 *        NaN here (Inf - Inf) and 0 in rmsnorm_sum. Adding a square takes four operations.
 * SPDX-License-Identifier: MIT */
#include "half.h"

NL_INLINE void rmsnorm(nl_view v) {
    half_norm(v, half_compensated, false);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "16-bit arithmetic, a compensated sum of squares",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .demonstration = true, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
