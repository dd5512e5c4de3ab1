/* idea   A demonstration: rmsnorm_sum with a pairwise sum. The sum halves the row recursively, down
 *        to single squares (Higham 2002, section 4.1). Both terms of an addition are then of about
 *        the same size.
 * gain   A term passes log2(c) roundings instead of c, and the sum no longer stops growing.
 * fails  A square or the sum may leave the range of the storage type, as in rmsnorm_sum. Every
 *        operation still rounds to 16 bits.
 * SPDX-License-Identifier: MIT */
#include "half.h"

NL_INLINE void rmsnorm(nl_view v) {
    half_norm(v, half_pairwise, false);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "16-bit arithmetic, the squares added up pairwise",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .demonstration = true, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
