/* idea   A demonstration, layernorm_sum with compensated sums (Kahan 1965, Communications of the ACM
 *        8(1)): the rounding error of an addition is computed and corrects the next term.
 * gain   Sums right to about their last digit, whatever the length of the row, as long as the
 *        square of the 16-bit rounding error times that length stays small.
 * fails  As layernorm_sum, where a square or a sum leaves the range of the storage type; but Inf - Inf
 *        is NaN, so what was 0 there is NaN here. And the mean is still a 16-bit number.
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
