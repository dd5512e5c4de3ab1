/* idea   A demonstration, rmsnorm_sum with the squares added up pairwise: the sum of each half of the
 *        row by itself, halved again down to single squares (Higham 2002, section 4.1). Both terms
 *        of an addition are then of about the same size.
 * gain   A term passes log2(c) roundings instead of c, and the sum no longer stops growing.
 * fails  As rmsnorm_sum, where a square or the sum leaves the range of the storage type: pairs add no
 *        range. And every other operation still rounds to 16 bits.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

static float squares(const nl_view *row, size_t begin, size_t end) {
    if (end - begin == 1) {
        float x = nl_round(row->t, nl_x(*row, begin));
        return nl_round(row->t, x * x);
    }
    size_t middle = begin + (end - begin) / 2;
    return nl_round(row->t, squares(row, begin, middle) + squares(row, middle, end));
}

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float mean_square = nl_round(v.t, squares(&row, 0, v.c) / nl_round(v.t, v.c));
        float root = nl_round(v.t, sqrtf(nl_round(v.t, mean_square + nl_round(v.t, v.eps))));
        float rstd = nl_round(v.t, 1 / root);

        for (size_t i = 0; i < v.c; i++)
            nl_put_y(row, i, nl_round(v.t, nl_round(v.t, nl_x(row, i)) * rstd));
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "16-bit arithmetic, the squares added up pairwise",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .demonstration = true, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
