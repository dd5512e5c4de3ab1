/* idea   The mean as a pair, m + c: m is a float near the mean, c the mean of d = x - m, which is
 *        what m misses. The squares around m are reduced by c * sum(d); y subtracts m first, then
 *        c. Terms are summed in blocks of 64; the first pass sums x - x_0, small numbers.
 * gain   The error grows neither with mean/sigma nor with the length of the row; no pass is added.
 * fails  Reads x three times, as two_pass. Wrong if (x - m)^2 leaves float's range.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

enum { BLOCK = 64 };

typedef struct sums {
    float d, squares;
} sums;

/* The sums of d = x - m and of d^2. */
NL_INLINE sums sums_around(nl_view row, float m) {
    sums all = {0, 0};
    for (size_t begin = 0; begin < row.c; begin += BLOCK) {
        const size_t end = row.c - begin < BLOCK ? row.c : begin + BLOCK;
        sums block = {0, 0};
        for (size_t i = begin; i < end; i++) {
            float d = nl_x(row, i) - m;
            block.d += d;
            block.squares += d * d;
        }
        all.d += block.d;
        all.squares += block.squares;
    }
    return all;
}

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float first = nl_x(row, 0);
        float m = first + sums_around(row, first).d / v.c;

        sums s = sums_around(row, m);
        float c = s.d / v.c;
        float rstd = 1 / sqrtf((s.squares - c * s.d) / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - m - c) * rstd);
        nl_keep(row, m + c, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "two-pass with the mean's rounding error, summed in blocks",
        .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES,
        .method = NL_REFINED, .lanes = 1, .forward = forward);
