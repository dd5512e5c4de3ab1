/* idea   A demonstration: layernorm_sum with pairwise sums. The sum halves the row recursively,
 *        down to single values (Higham 2002, section 4.1).
 * gain   A term passes log2(c) roundings instead of c, and no sum stops growing.
 * fails  A square or a sum may leave the range of the storage type, as in layernorm_sum. The mean
 *        is a 16-bit number: its error of up to half its last digit moves every y.
 * SPDX-License-Identifier: MIT */
#include "half.h"

NL_INLINE void layernorm(nl_view v) {
    half_norm(v, half_pairwise, true);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "16-bit arithmetic, both sums pairwise", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16),
        .demonstration = true, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
