/* Backward of the row norms, the sums along a row. With g = gain * dy and xhat = (x - mean) * rstd:
 *     dx = (g + xhat * by_xhat + constant) * rstd,   dgamma += dy * xhat,   dbeta += dy
 *     by_xhat = -mean(g * xhat),   constant = -mean(g)
 * rstd^2 would leave float's range where dx does not.
 * SPDX-License-Identifier: MIT */
#ifndef NL_ROW_BACKWARD_SUMS_H
#define NL_ROW_BACKWARD_SUMS_H

#include "row_gradients.h"
#include "row_sums.h"

/* The recipe of a rung, as in row_statistics.h. */
typedef struct backward_recipe {
    bool centred;   /* LayerNorm */
    bool blocks;    /* four rows at a time */
    bool pipelined; /* the next row's sums in the loop that makes this row's dx */
    bool streaming; /* stores dx past the caches and prefetches the next block */
} backward_recipe;

/* Lanes of a sum along a row: one vector for each row of a block, else four. dgamma and dbeta are
 * summed in float over a piece of as many rows or blocks; pieces are added in two floats, so that
 * the error does not grow with the number of rows. */
enum { BLOCK = 4, STEP = 4 * VLEN, BLOCK_LANES = VLEN, ROW_LANES = STEP };

/* Rows are summed in pieces of so many columns, as in row_statistics.h. Longer rows take no blocks,
 * which would be evicted between sums and dx. */
enum { PIECE = 16384 };

typedef struct totals {
    double g, gd;
} totals;

/* A row's terms of dx, in all lanes. */
typedef struct dx_terms {
    vf mean, rstd, by_xhat, constant;
} dx_terms;

NL_INLINE vf load_x(const gradients *g, size_t at, size_t k) {
    return vload(g->v.t, g->v.x, at, k);
}

NL_INLINE vf load_dy(const gradients *g, size_t at, size_t k) {
    return vload(g->v.t, g->v.dy, at, k);
}

NL_INLINE vf mean_of(const gradients *g, size_t r, backward_recipe q) {
    return vset(q.centred ? g->v.mean[r] : 0);
}

/* Lanes past the end of the row have dy = 0 and gain = 0. */
NL_INLINE sums add_vector(sums s, vf x, vf dy, vf gain, vf mean, backward_recipe q) {
    const vf part = gain * dy;
    if (q.centred) x -= mean, s.v += part;
    s.vd = vfma(part, x, s.vd);
    return s;
}

NL_INLINE sums add(sums s, const gradients *g, size_t at, size_t k, vf gain, vf mean,
                   backward_recipe q) {
    return add_vector(s, load_x(g, at, k), load_dy(g, at, k), gain, mean, q);
}

NL_INLINE totals total(sums s, backward_recipe q) {
    return (totals){q.centred ? vsum(s.v) : 0, vsum(s.vd)};
}

/* The sums of row r over columns [i, stop). */
NL_INLINE totals sum_piece(const gradients *g, size_t r, size_t i, size_t stop, backward_recipe q) {
    const vf mean = mean_of(g, r, q);
    const column *col = g->columns + i / VLEN;
    const size_t at = r * g->v.c, first = i;
    four_sums s = no_four_sums();
    earlier before = no_earlier();
    while (i + VLEN <= stop) {
        if (i > first && q.blocks) join(&before, s.a, i - first), s.a = no_sums();
        if (i > first && !q.blocks) end_block(&before, &s, i - first);
        const size_t end = block_end(i, stop);
        for (; !q.blocks && i + STEP <= end; i += STEP, col += 4) {
            s.a = add(s.a, g, at + i, VLEN, col[0].gain, mean, q);
            s.b = add(s.b, g, at + i + VLEN, VLEN, col[1].gain, mean, q);
            s.c = add(s.c, g, at + i + 2 * VLEN, VLEN, col[2].gain, mean, q);
            s.d = add(s.d, g, at + i + 3 * VLEN, VLEN, col[3].gain, mean, q);
        }
        for (; i + VLEN <= end; i += VLEN, col++)
            s.a = add(s.a, g, at + i, VLEN, col->gain, mean, q);
    }
    if (i < stop) s.a = add(s.a, g, at + i, stop - i, col->gain, mean, q);
    return total(with_earlier(q.blocks ? s.a : all_four(s), before, stop - first), q);
}

NL_INLINE totals sum_row(const gradients *g, size_t r, backward_recipe q) {
    const size_t c = g->v.c;
    if (c <= PIECE) return sum_piece(g, r, 0, c, q);
    totals all = {0, 0};
    for (size_t i = 0; i < c; i += PIECE) {
        const totals piece = sum_piece(g, r, i, c - i < PIECE ? c : i + PIECE, q);
        all.g += piece.g, all.gd += piece.gd;
    }
    return all;
}

/* A single value is its own mean: y does not depend on x, and dx is 0. */
NL_INLINE dx_terms terms_of(const gradients *g, size_t r, totals t, backward_recipe q) {
    const float rstd = q.centred && g->v.c == 1 ? 0 * g->v.rstd[r] : g->v.rstd[r];
    const float mean_g = (float)(t.g * g->per_c), mean_gx = (float)(t.gd * g->per_c * rstd);
    return (dx_terms){mean_of(g, r, q), vset(rstd), vset(-mean_gx), vset(-mean_g)};
}

#endif
