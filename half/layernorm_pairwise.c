/* idea   A demonstration, layernorm_sum with both sums pairwise: the sum of each half of the row by
 *        itself, halved again down to single values (Higham 2002, section 4.1).
 * gain   A term passes log2(c) roundings instead of c, and no sum stops growing.
 * fails  As layernorm_sum, where a square or a sum leaves the range of the storage type. And the mean is
 *        a 16-bit number: off by up to half its last digit, which moves every y.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

/* The sum of x or, given a mean, of the squares around it. */
static float sum(const nl_view *row, const float *mean, size_t begin, size_t end) {
    if (end - begin == 1) {
        float x = nl_round(row->t, nl_x(*row, begin));
        float d = mean ? nl_round(row->t, x - *mean) : x;
        return mean ? nl_round(row->t, d * d) : x;
    }
    size_t middle = begin + (end - begin) / 2;
    return nl_round(row->t, sum(row, mean, begin, middle) + sum(row, mean, middle, end));
}

NL_INLINE void layernorm(nl_view v) {
    float c = nl_round(v.t, v.c);
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float mean = nl_round(v.t, sum(&row, NULL, 0, v.c) / c);
        float var = nl_round(v.t, sum(&row, &mean, 0, v.c) / c);
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

NL_IMPL(.about = "16-bit arithmetic, both sums pairwise", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16),
        .demonstration = true, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
