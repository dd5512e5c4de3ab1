/* Backward of the row norms, the first reading: the sums along each row of a block, and the block's
 * terms of dgamma and dbeta. With g = gain * dy and xhat = (x - mean) * rstd:
 *     dx = (g + xhat * by_xhat + constant) * rstd,   dgamma += dy * xhat,   dbeta += dy
 *     by_xhat = -mean(g * xhat),   constant = -mean(g)
 * The factor rstd comes last, because rstd^2 could leave float's range although dx does not.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "best.h"
#include "gradients.h"
#include "sums.h"

/* The recipe of a rung: compile-time constants in its loops. */
typedef struct backward_recipe {
    bool centred;   /* LayerNorm */
    int rows;       /* rows of a block, at most BLOCK_ROWS */
    bool kept;      /* keeps a row's xhat and g as floats for the second reading; rows is 1 */
    bool prefetch;  /* prefetches the next block's x and dy, and this block's dx unless streamed */
    bool streaming; /* stores dx past the caches */
} backward_recipe;

/* Each sum of a row is one vector in blocks of any size, so dx has the same bits in all blocks.
 * dgamma and dbeta are summed in float, first over a block, then over PIECE_ROWS rows. These
 * pieces' sums are added with their rounding errors, so the error does not grow with the number of
 * rows. */
enum { BLOCK_ROWS = 4, STEP = 4 * VLEN, PIECE_ROWS = STEP };

/* Rows are summed in pieces of PIECE columns, as in rows.h. Longer rows are processed one by one,
 * because a block of long rows would be evicted between the two readings. */
enum { PIECE = NL_ROW_PIECE };

/* The factors of one row, each in all lanes: xhat = (x - mean) * rstd - shift; shift corrects the
 * saved mean's rounding. */
typedef struct row_scale {
    vf mean, rstd, shift;
} row_scale;

/* The kept floats of a row. Arrays are padded by more than a third of a page, as in kept.c. */
enum { KEPT = SUM_BLOCK };

typedef float kept_array[KEPT + 16 + 1024 / 3 / 16 * 16] __attribute__((aligned(64)));

typedef struct kept_row {
    kept_array xhat, g;
} kept_row;

/* Addresses: of the whole tensors if all have the same strides, since one index for all tensors
 * saves registers; otherwise of a single row. */
typedef struct arrays {
    const void *x, *dy, *dresidual;
    void *dx;
} arrays;

NL_INLINE arrays arrays_of_all(const gradients *g) {
    return (arrays){g->v.x, g->v.dy, g->v.dresidual, g->v.dx};
}

NL_INLINE arrays arrays_of_row(const gradients *g, size_t r) {
    const nl_backward_view row = nl_backward_row(g->v, r);
    return (arrays){row.x, row.dy, row.dresidual, row.dx};
}

NL_INLINE size_t index_of_row(const gradients *g, size_t r) {
    if (__builtin_expect(!g->v.rows, true)) return r * g->v.c;
    return nl_row_at(g->v.rows, g->v.rows->x, g->v.first + r);
}

static inline bool strides_agree(const gradients *g) {
    const nl_rows *k = g->v.rows;
    return !k ||
           (memcmp(&k->x, &k->dy, sizeof k->x) == 0 && memcmp(&k->x, &k->y, sizeof k->x) == 0 &&
            (!g->v.dresidual || memcmp(&k->x, &k->residual, sizeof k->x) == 0));
}

/* A block of rows that starts at r: the addresses and the sums of the rows. */
typedef struct block {
    size_t r;
    arrays of;
    size_t at[BLOCK_ROWS], ahead; /* ahead: elements to the next block */
    kept_row *kept;
    row_scale scale[BLOCK_ROWS];
    double g[BLOCK_ROWS], gx[BLOCK_ROWS]; /* the sums of g and of g * xhat */
} block;

NL_INLINE vf xhat_of(vf x, row_scale s, backward_recipe q) {
    if (q.centred) return vfma(x - s.mean, s.rstd, -s.shift);
    return x * s.rstd;
}

/* The mean of (x - mean) * rstd, which would be 0 if the saved mean were not rounded. */
NL_COLD float shift_of(const gradients *g, size_t r) {
    const arrays row = arrays_of_row(g, r);
    const vf mean = vset(g->v.mean[r]);
    const size_t c = g->v.c;
    double all = 0;
    for (size_t i = 0; i < c;) {
        vf sum = vset(0);
        for (const size_t end = block_end(i, c); i < end; i += VLEN) {
            const size_t k = end - i < VLEN ? end - i : VLEN;
            sum += vkeep(vload(g->v.t, row.x, i, k) - mean, k);
        }
        all += vsum(sum);
    }
    const float shift = (float)(all * g->per_c * g->v.rstd[r]);
    return isfinite(shift) ? shift : 0;
}

/* A row of one value is its own mean, so dx is 0. If the mean is many sigma, its rounding error is
 * large compared with sigma; the shift corrects this error. */
NL_INLINE row_scale scale_of(const gradients *g, size_t r, backward_recipe q) {
    float rstd = g->v.rstd[r], mean = 0, shift = 0;
    if (q.centred) {
        if (g->v.c == 1) rstd *= 0;
        mean = g->v.mean[r];
        if (fabsf(mean) * rstd > 4) shift = shift_of(g, r);
    }
    return (row_scale){vset(mean), vset(rstd), vset(shift)};
}

/* Past the row's end dy and gain are 0, and xhat is masked, because x = 0 may make it infinite. */
NL_INLINE sums add_terms(sums s, vf xhat, vf dy, vf gain, backward_recipe q) {
    const vf part = gain * dy;
    if (q.centred) s.v += part;
    s.vd = vfma(part, xhat, s.vd);
    return s;
}

/* Prefetches the cache line of element `at` if `at` is in the line's first vector. The first
 * reading prefetches the next block's x, the second reading its dy. */
NL_INLINE void prefetch(nl_dtype t, const void *p, size_t at) {
    const size_t size = nl_dtype_size(t), byte = at * size;
    if (byte % 64 < VLEN * size) vprefetch((const char *)p + byte);
}

/* Adds k columns, starting at i, to the sums of each row, and to dgamma and dbeta. */
NL_INLINE void add_columns(sums *s, const gradients *g, const block *b, size_t i, size_t k,
                           backward_recipe q) {
    const bool begins = b->r % PIECE_ROWS == 0;
    const vf gain = vload(NL_F32, g->gain, i, VLEN);
    vf dgamma = vset(0), dbeta = vset(0);
    if (q.kept && !begins) {
        dgamma = vload(NL_F32, g->dgamma, i, VLEN);
        if (q.centred) dbeta = vload(NL_F32, g->dbeta, i, VLEN);
    }
#pragma GCC unroll 4
    for (int a = 0; a < q.rows; a++) {
        const size_t first = b->at[a] + i;
        const vf xhat = vkeep(xhat_of(vload(g->v.t, b->of.x, first, k), b->scale[a], q), k);
        const vf dy = vload(g->v.t, b->of.dy, first, k);
        s[a] = add_terms(s[a], xhat, dy, gain, q);
        if (q.kept) {
            vstore(NL_F32, b->kept->xhat, i, VLEN, xhat);
            vstore(NL_F32, b->kept->g, i, VLEN, gain * dy);
        }
        if (q.prefetch) prefetch(g->v.t, b->of.x, first + b->ahead);
        if (q.prefetch && !q.streaming) prefetch(g->v.t, b->of.dx, first);
        if (a == 0 && !q.kept)
            dgamma = dy * xhat, dbeta = dy;
        else
            dgamma = vfma(dy, xhat, dgamma), dbeta += dy;
    }
    if (!q.kept && !begins) {
        dgamma += vload(NL_F32, g->dgamma, i, VLEN);
        if (q.centred) dbeta += vload(NL_F32, g->dbeta, i, VLEN);
    }
    vstore(NL_F32, g->dgamma, i, VLEN, dgamma);
    if (q.centred) vstore(NL_F32, g->dbeta, i, VLEN, dbeta);
}

/* Adds all rows' blocks of sums, which end after `done` elements, to the earlier blocks. */
NL_INLINE void end_blocks(earlier *before, sums *s, size_t done, backward_recipe q) {
#pragma GCC unroll 4
    for (int a = 0; a < q.rows; a++) join(before + a, s[a], done), s[a] = no_sums();
}

/* Adds the sums over columns [i, stop), in an order that does not depend on the row's place in its
 * block, so that dx does not depend on the row's place in the batch. */
NL_INLINE void sum_piece(const gradients *g, block *b, size_t i, size_t stop, backward_recipe q) {
    const size_t first = i;
    sums s[BLOCK_ROWS] = {no_sums(), no_sums(), no_sums(), no_sums()};
    earlier before[BLOCK_ROWS] = {no_earlier(), no_earlier(), no_earlier(), no_earlier()};
    while (i + VLEN <= stop) {
        if (i > first) end_blocks(before, s, i - first, q);
        for (const size_t end = block_end(i, stop); i + VLEN <= end; i += VLEN)
            add_columns(s, g, b, i, VLEN, q);
    }
    if (i < stop) add_columns(s, g, b, i, stop - i, q);
#pragma GCC unroll 4
    for (int a = 0; a < q.rows; a++) {
        const sums all = with_earlier(s[a], before[a], stop - first);
        if (q.centred) b->g[a] += vsum(all.v);
        b->gx[a] += vsum(all.vd);
    }
}

/* The first reading of a block. Sets fields one by one: an initializer would clear all fields. */
NL_INLINE void sum_block(block *b, const gradients *g, size_t r, kept_row *kept, bool agree,
                         backward_recipe q) {
    const size_t c = g->v.c;
    b->r = r, b->kept = kept, b->of = arrays_of_all(g), b->ahead = 0;
    if (q.prefetch) b->ahead = index_of_row(g, r + (size_t)q.rows) - index_of_row(g, r);
#pragma GCC unroll 4
    for (int a = 0; a < q.rows; a++) {
        b->at[a] = index_of_row(g, r + (size_t)a);
        b->scale[a] = scale_of(g, r + (size_t)a, q);
        b->g[a] = b->gx[a] = 0;
    }
    if (q.rows == 1 && !agree) b->of = arrays_of_row(g, r), b->at[0] = 0;
    for (size_t i = 0; i < c; i += PIECE) sum_piece(g, b, i, c - i < PIECE ? c : i + PIECE, q);
}

enum { ROW_NORMS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };

/* Sizes that decide the order of additions: vectors, blocks, pieces of rows and of columns. */
static const nl_threshold row_thresholds[] __attribute__((unused)) = {{NL_OF_C, VLEN},
                                                                      {NL_OF_C, STEP},
                                                                      {NL_OF_C, SUM_BLOCK},
                                                                      {NL_OF_C, PIECE},
                                                                      {NL_OF_N, BLOCK_ROWS},
                                                                      {NL_OF_N, PIECE_ROWS},
                                                                      {0}};

static inline size_t rows_backward_scratch(const nl_problem *p) {
    return vectors_of(p->c) * (3 * sizeof(vf) + (p->n > PIECE_ROWS ? sizeof(compensated) : 0));
}
