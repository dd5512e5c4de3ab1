/* BatchNorm's sums: of x - m and its square, or of dy and dy * (x - mean) in backward.
 * SPDX-License-Identifier: MIT */
#include "work.h"

/* Columns (work.h): each lane of a vector sums one of VLEN adjacent columns, and the lanes are
 * never added to each other. The tensor has n rows of w.columns elements. */

/* A tile's position in its piece: in the first block; at a block's start, end, or both. */
typedef struct place {
    bool first, begins, ends;
} place;

/* m and the sums of a vector of columns. A tile has four of these structures, as separate
 * variables, because compilers spill an array. */
typedef struct accumulator {
    vf m, d, squares;
} accumulator;

NL_INLINE accumulator load_sums(work w, size_t f, place in, const float *sums) {
    accumulator l = {vload(NL_F32, w.m, f, VLEN), vset(0), vset(0)};
    if (in.begins) return l;
    l.d = vload(NL_F32, sums + 2 * w.padded, f, VLEN);
    l.squares = vload(NL_F32, sums + 3 * w.padded, f, VLEN);
    return l;
}

NL_INLINE void accumulate_row(accumulator *l, work w, nl_dtype t, size_t at, size_t k,
                              bool prefetch, batch_recipe q) {
    if (prefetch) prefetch_at(w, t, at + (size_t)q.prefetch_rows * w.columns, q);
    vf e = vload(t, w.v.x, at, k) - l->m, g = q.backward ? vload(t, w.dy, at, k) : e;
    l->d += g;
    l->squares = vfma(e, g, l->squares);
}

/* Adds the sums to earlier blocks' sums if the block ends; else stores them for the next tile. */
NL_INLINE void store_sums(accumulator l, work w, size_t f, place in, float *sums) {
    if (in.ends && !in.first) {
        l.d += vload(NL_F32, sums, f, VLEN);
        l.squares += vload(NL_F32, sums + w.padded, f, VLEN);
    }
    if (!in.ends) sums += 2 * w.padded;
    vstore(NL_F32, sums, f, VLEN, l.d);
    vstore(NL_F32, sums + w.padded, f, VLEN, l.squares);
}

NL_INLINE void sum_tiles(work w, nl_dtype t, size_t row, size_t end, size_t f, size_t f_end,
                         place in, bool prefetch, float *sums, batch_recipe q) {
    enum { A = VLEN, B = 2 * VLEN, C = 3 * VLEN };
    for (; q.tiles && f + 4 * VLEN <= f_end; f += 4 * VLEN) {
        accumulator l0 = load_sums(w, f, in, sums), l1 = load_sums(w, f + A, in, sums);
        accumulator l2 = load_sums(w, f + B, in, sums), l3 = load_sums(w, f + C, in, sums);
        for (size_t i = row; i < end; i++) {
            const size_t at = i * w.columns + f;
            accumulate_row(&l0, w, t, at, VLEN, prefetch, q);
            accumulate_row(&l1, w, t, at + A, VLEN, prefetch, q);
            accumulate_row(&l2, w, t, at + B, VLEN, prefetch, q);
            accumulate_row(&l3, w, t, at + C, VLEN, prefetch, q);
        }
        store_sums(l0, w, f, in, sums), store_sums(l1, w, f + A, in, sums);
        store_sums(l2, w, f + B, in, sums), store_sums(l3, w, f + C, in, sums);
    }
    for (; f < f_end; f += VLEN) {
        accumulator l = load_sums(w, f, in, sums);
        for (size_t i = row; i < end; i++)
            accumulate_row(&l, w, t, i * w.columns + f, readable_lanes(w, i * w.columns + f), false,
                           q);
        store_sums(l, w, f, in, sums);
    }
}

/* Tiles of several rows suit tensors in the cache. A tensor in memory is read in order, in tiles of
 * one row, while the block's sums stay in the first-level cache. */
NL_INLINE void sum_columns(work w, nl_dtype t, size_t row, size_t end, size_t begin, size_t f_end,
                           float *sums, batch_recipe q) {
    const bool high = q.tiles && (w.cached || w.columns <= NARROW);
    for (size_t top = row; top < end; top += BLOCK)
        for (size_t f = begin; f < f_end; f += L1_COLUMNS) {
            const size_t bottom = least(top + BLOCK, end), right = least(f + L1_COLUMNS, f_end);
            for (size_t r = top, next; r < bottom; r = next) {
                next = least(r + (high ? TILE_ROWS : 1), bottom);
                const place in = {top == row, r == top, next == bottom};
                if (high)
                    sum_tiles(w, t, r, next, f, right, in, false, sums, q);
                else
                    sum_tiles(w, t, r, r + 1, f, right, in, q.prefetch_rows > 0, sums, q);
            }
        }
}

/* Runs: channels whose values are contiguous, s at a time. */

/* Adds the first k of the VLEN elements that start at `at`. */
NL_INLINE void accumulate(vf *d, vf *squares, work w, nl_dtype t, size_t at, size_t k, vf m,
                          batch_recipe q) {
    const size_t readable = k == VLEN ? VLEN : readable_lanes(w, at);
    vf e = vkeep(vload(t, w.v.x, at, readable) - m, k);
    vf g = q.backward ? vkeep(vload(t, w.dy, at, readable), k) : e;
    *d += g;
    *squares = vfma(e, g, *squares);
}

/* Adds the sums over `count` elements, starting at `at`, to *d and *squares. */
NL_INLINE void sum_span(work w, nl_dtype t, size_t at, size_t count, float around, double *d,
                        double *squares, batch_recipe q) {
    const vf m = vset(around), zero = vset(0);
    vf d_before = zero, s_before = zero;
    const size_t end = at + count;
    for (size_t i = at; i < end;) {
        vf d0 = zero, d1 = d0, d2 = d0, d3 = d0, s0 = d0, s1 = d0, s2 = d0, s3 = d0;
        const size_t stop = block_end(i, end);
        for (; i + 4 * VLEN <= stop; i += 4 * VLEN) {
            accumulate(&d0, &s0, w, t, i, VLEN, m, q);
            accumulate(&d1, &s1, w, t, i + VLEN, VLEN, m, q);
            accumulate(&d2, &s2, w, t, i + 2 * VLEN, VLEN, m, q);
            accumulate(&d3, &s3, w, t, i + 3 * VLEN, VLEN, m, q);
        }
        for (; i + VLEN <= stop; i += VLEN) accumulate(&d0, &s0, w, t, i, VLEN, m, q);
        if (i < stop) accumulate(&d1, &s1, w, t, i, stop - i, m, q), i = stop;
        d_before += (d0 + d1) + (d2 + d3), s_before += (s0 + s1) + (s2 + s3);
    }
    *d += vsum(d_before), *squares += vsum(s_before);
}

NL_INLINE void sum_runs(work w, nl_dtype t, size_t row, size_t end, size_t begin, size_t j_end,
                        float *sums, batch_recipe q) {
    double *d = (double *)sums, *squares = d + w.padded;
    for (size_t j = begin; j < j_end; j++) d[j] = squares[j] = 0;
    for (; row < end; row++)
        for (size_t j = begin; j < j_end; j++)
            for (size_t k = 0; k < w.v.s; k += RUN)
                sum_span(w, t, nl_at(w.v, row, j, k), least(RUN, w.v.s - k), w.m[j], &d[j],
                         &squares[j], q);
}

NL_INLINE void sum_part(const part *p, nl_dtype t, bool backward) {
    const channels *k = p->k;
    const size_t width = k->w->width;
    batch_recipe q = k->w->q;
    q.backward = backward;
    if (k->w->runs)
        sum_runs(*k->w, t, p->row, p->end, k->j, k->end, p->sums, q);
    else
        sum_columns(*k->w, t, p->row, p->end, k->j * width, k->end * width, p->sums, q);
}

static void sum_f32(const part *p) {
    sum_part(p, NL_F32, false);
}
static void sum_f16(const part *p) {
    sum_part(p, NL_F16, false);
}
static void sum_bf16(const part *p) {
    sum_part(p, NL_BF16, false);
}
static void sum_dy_f32(const part *p) {
    sum_part(p, NL_F32, true);
}
static void sum_dy_f16(const part *p) {
    sum_part(p, NL_F16, true);
}
static void sum_dy_bf16(const part *p) {
    sum_part(p, NL_BF16, true);
}

static part_function *const sum[2][NL_DTYPES] = {
    {[NL_F32] = sum_f32, [NL_F16] = sum_f16, [NL_BF16] = sum_bf16},
    {[NL_F32] = sum_dy_f32, [NL_F16] = sum_dy_f16, [NL_BF16] = sum_dy_bf16},
};

void batch_sums(const channels *k, size_t begin, size_t end) {
    const work *w = k->w;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i * w->piece;
        const part p = {k, row, least(row + w->piece, w->v.n), w->sums + 4 * i * w->padded};
        sum[w->q.backward][w->v.t](&p);
    }
}
