/* Code that the demonstrations of 16-bit arithmetic share. The demonstrations round each result to
 * the storage type before using it. Only their sums differ. SPDX-License-Identifier: MIT */
#pragma once

#include "kernel.h"

/* Sums x over the row or, if mean is not NULL, (x - mean)^2. */
typedef float half_sum(const nl_view *row, const float *mean);

NL_INLINE float half_term(const nl_view *row, const float *mean, size_t i) {
    float x = nl_round(row->t, nl_x(*row, i));
    float d = mean ? nl_round(row->t, x - *mean) : x;
    return mean ? nl_round(row->t, d * d) : x;
}

/* LayerNorm. For RMSNorm the mean is 0. */
NL_INLINE void half_norm(nl_view v, half_sum *sum, bool centred) {
    float c = nl_round(v.t, v.c);
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float mean = centred ? nl_round(v.t, sum(&row, NULL) / c) : 0;
        float var = nl_round(v.t, sum(&row, &mean) / c);
        float root = nl_round(v.t, sqrtf(nl_round(v.t, var + nl_round(v.t, v.eps))));
        float rstd = nl_round(v.t, 1 / root);

        for (size_t i = 0; i < v.c; i++) {
            float d = nl_round(v.t, nl_round(v.t, nl_x(row, i)) - mean);
            nl_put_y(row, i, nl_round(v.t, d * rstd));
        }
        nl_keep(row, mean, rstd);
    }
}

NL_INLINE float half_running(const nl_view *row, const float *mean) {
    float sum = 0;
    for (size_t i = 0; i < row->c; i++) sum = nl_round(row->t, sum + half_term(row, mean, i));
    return sum;
}

/* Sums terms `begin` to `end` - 1, each half separately. */
static inline float half_halves(const nl_view *row, const float *mean, size_t begin, size_t end) {
    if (end - begin == 1) return half_term(row, mean, begin);
    size_t middle = begin + (end - begin) / 2;
    return nl_round(row->t,
                    half_halves(row, mean, begin, middle) + half_halves(row, mean, middle, end));
}

NL_INLINE float half_pairwise(const nl_view *row, const float *mean) {
    return half_halves(row, mean, 0, row->c);
}

NL_INLINE float half_compensated(const nl_view *row, const float *mean) {
    float sum = 0, excess = 0; /* rounding error of the sum; above 0: the sum is too large */
    for (size_t i = 0; i < row->c; i++) {
        float due = nl_round(row->t, half_term(row, mean, i) - excess);
        float next = nl_round(row->t, sum + due);
        excess = nl_round(row->t, nl_round(row->t, next - sum) - due);
        sum = next;
    }
    return sum;
}
