/* idea   A demonstration: layernorm_sum with compensated sums (Kahan 1965, Communications of the
 *        ACM 8(1)). The rounding error of an addition is computed and corrects the next term.
 * gain   The sums are right to about their last digit, as long as the row's length times the square
 *        of the 16-bit rounding error is small.
 * fails  A square or a sum may leave the range of the storage type, as in layernorm_sum. If
 *        squares leave it, y is NaN here (Inf - Inf) and 0 in layernorm_sum. The mean is still a
 *        16-bit number.
 * SPDX-License-Identifier: MIT */
#include "half.h"

NL_INLINE void layernorm(nl_view v) {
    half_norm(v, half_compensated, true);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "16-bit arithmetic, compensated sums", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16),
        .demonstration = true, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
