/* idea   A demonstration, layernorm_sum with compensated sums (Kahan 1965, Communications of the ACM
 *        8(1)): the rounding error of an addition is computed and corrects the next term.
 * gain   Sums right to about their last digit, whatever the length of the row, as long as the
 *        square of the 16-bit rounding error times that length stays small.
 * fails  As layernorm_sum, where a square or a sum leaves the range of the storage type; but Inf - Inf
 *        is NaN, so what was 0 there is NaN here. And the mean is still a 16-bit number.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

/* Returns sum + term - *excess, and sets *excess to the rounding error of that sum. */
NL_INLINE float add(nl_dtype t, float sum, float term, float *excess) {
    float due = nl_round(t, term - *excess), next = nl_round(t, sum + due);
    *excess = nl_round(t, nl_round(t, next - sum) - due);
    return next;
}

NL_INLINE void layernorm(nl_view v) {
    float c = nl_round(v.t, v.c);
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float sum = 0, excess = 0;
        for (size_t i = 0; i < v.c; i++) sum = add(v.t, sum, nl_round(v.t, nl_x(row, i)), &excess);
        float mean = nl_round(v.t, sum / c);

        float squares = 0;
        excess = 0;
        for (size_t i = 0; i < v.c; i++) {
            float d = nl_round(v.t, nl_round(v.t, nl_x(row, i)) - mean);
            squares = add(v.t, squares, nl_round(v.t, d * d), &excess);
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

NL_IMPL(.about = "16-bit arithmetic, compensated sums", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16),
        .demonstration = true, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
