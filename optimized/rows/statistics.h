/* The statistics of a row in vector words: its sums in one reading or two, and the certificate,
 * which decides from the sums whether one reading was enough. SPDX-License-Identifier: MIT */
#pragma once

#include "rows.h"
#include "sums.h"

#include <float.h>

/* xhat = (x - m) * rstd - shift, and the mean is m + c. in_double: the sums left float's range, so
 * the row is computed in double. */
struct stats {
    float m, c, rstd, shift;
    bool in_double;
};

/* Sums of d = x - m and of d^2. */
typedef struct totals {
    double d, squares;
} totals;

NL_INLINE vf load_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.residual) return x;
    x += vload(row.t, row.residual, i, k);
    return row.rounds_sum ? vround(row.t, x) : x;
}

/* Adds the first k of the VLEN elements that start at i; all VLEN elements are readable. */
NL_INLINE void accumulate(sums *s, nl_view row, size_t i, size_t k, vf m) {
    vf d = vkeep(load_x(row, i, VLEN) - m, k);
    s->v += d;
    s->vd = vfma(d, d, s->vd);
}

/* Starts the sums over [begin, end) with the elements that do not fill a vector, and returns the
 * start of the whole vectors. Masks a load only if the range is shorter than a vector. */
NL_INLINE size_t start_sums(four_sums *s, nl_view row, size_t begin, size_t end, vf m) {
    const size_t odd = (end - begin) % VLEN;
    *s = no_four_sums();
    if (end - begin >= VLEN) {
        if (odd) accumulate(&s->a, row, begin, odd, m);
    } else {
        vf d = vkeep(load_x(row, begin, odd) - m, odd);
        s->a = (sums){d, d * d};
    }
    return begin + odd;
}

NL_INLINE void accumulate_step(four_sums *s, nl_view row, size_t i, vf m) {
    accumulate(&s->a, row, i, VLEN, m);
    accumulate(&s->b, row, i + VLEN, VLEN, m);
    accumulate(&s->c, row, i + 2 * VLEN, VLEN, m);
    accumulate(&s->d, row, i + 3 * VLEN, VLEN, m);
}

/* Adds the last vectors and, if `elements` exceed one block, the earlier blocks, then reduces all
 * lanes to one number. */
NL_INLINE totals finish_sums(four_sums *s, earlier before, size_t elements, nl_view row, size_t i,
                             size_t end, vf m) {
    for (; i < end; i += VLEN) accumulate(&s->a, row, i, VLEN, m);
    const sums all = with_earlier(all_four(*s), before, elements);
    return (totals){vsum(all.v), vsum(all.vd)};
}

/* The sums around m over elements [begin, end). */
NL_INLINE totals sum_piece(nl_view row, size_t begin, size_t end, float m, row_recipe q) {
    const vf shift = vset(m);
    four_sums s;
    earlier before = no_earlier();
    const size_t first = start_sums(&s, row, begin, end, shift);
    size_t i = first;
    while (!q.one_sum && i + STEP <= end) {
        if (i > first) end_block(&before, &s, i - first);
        for (const size_t stop = block_end(i, end); i + STEP <= stop; i += STEP)
            accumulate_step(&s, row, i, shift);
    }
    return finish_sums(&s, before, end - first, row, i, end, shift);
}

NL_INLINE totals sum_row(nl_view row, float m, row_recipe q) {
    if (row.c <= PIECE) return sum_piece(row, 0, row.c, m, q);
    totals all = {0, 0};
    for (size_t i = 0; i < row.c; i += PIECE) {
        const totals piece = sum_piece(row, i, row.c - i < PIECE ? row.c : i + PIECE, m, q);
        all.d += piece.d, all.squares += piece.squares;
    }
    return all;
}

/* The guess K for a single reading: near the mean, unless the row begins with an outlier. */
NL_INLINE float guess_mean(nl_view row, double per_c, row_recipe q) {
    if (!q.centred) return 0;
    const size_t n = row.c < 16 ? row.c : 16;
    vf sum = vset(0);
    for (size_t i = 0; i < n; i += VLEN) sum += load_x(row, i, n - i < VLEN ? n - i : VLEN);
    return vsum(sum) * (row.c < 16 ? (float)per_c : 1.0f / 16);
}

/* The statistics from sums around m. For any m, the mean is m + c and var is E[d^2] - c^2, up to
 * rounding. per_c is 1 / row.c in double, which is as good as dividing. */
NL_INLINE stats from_sums(nl_view row, double per_c, float m, totals s) {
    double c = s.d * per_c, var = (s.squares - c * s.d) * per_c;
    float rstd = 1 / sqrtf((float)var + row.eps);
    return (stats){m, (float)c, rstd, (float)c * rstd, false};
}

/* Did the sums overflow, or underflow with an eps that is too small to make underflow harmless? */
NL_INLINE bool out_of_range(nl_view row, totals s) {
    bool too_small = s.squares < 0x1p-96 && row.eps < 0x1p-96f;
    return !(s.squares <= (double)FLT_MAX) || too_small;
}

NL_INLINE stats root_mean_square(nl_view row, double per_c, totals s, row_recipe q) {
    float rstd = 1 / sqrtf((float)(s.squares * per_c) + row.eps);
    return (stats){0, 0, rstd, 0, q.statistics == CERTIFIED && out_of_range(row, s)};
}

/* The second reading, around a mean that is nearly right. */
NL_COLD stats refine(const nl_view *v, size_t r, double per_c, float m) {
    const nl_view row = nl_row(*v, r);
    return from_sums(row, per_c, m, sum_row(row, m, (row_recipe){.statistics = CERTIFIED}));
}

/* The certificate: the guess was off by less than sigma, so var lost at most one bit. */
NL_INLINE bool is_certain(double per_c, totals s) {
    return 2 * s.d * s.d * per_c <= s.squares;
}

/* The statistics of row r of v from the sums around m; reads the row again if the sums are not
 * certain. Rare paths get v: a row's view would leave registers if its address were taken. */
NL_INLINE stats stats_from(const nl_view *v, size_t r, double per_c, float m, totals s,
                           row_recipe q) {
    if (!q.centred) return root_mean_square(*v, per_c, s, q);
    if (q.statistics != CERTIFIED) return from_sums(*v, per_c, m, s);
    if (out_of_range(*v, s)) return (stats){.in_double = true};
    if (is_certain(per_c, s)) return from_sums(*v, per_c, m, s);
    return refine(v, r, per_c, m + (float)(s.d * per_c));
}

/* The statistics from one reading around the guess (REFINED: around an earlier reading's mean). */
NL_INLINE stats row_stats(const nl_view *v, size_t r, double per_c, row_recipe q) {
    const nl_view row = nl_row(*v, r);
    float m = 0;
    if (q.centred && q.statistics == REFINED) {
        const float first = nl_x(row, 0);
        m = first + (float)(sum_row(row, first, q).d * per_c);
    } else {
        m = guess_mean(row, per_c, q);
    }
    return stats_from(v, r, per_c, m, sum_row(row, m, q), q);
}
