/* Adjacent channels: a vector holds one value of each of VLEN channels, and its lanes are never
 * added to each other. The tensor is n rows of `columns`. SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_COLUMNS_H
#define NL_BATCH_COLUMNS_H

#include "batch_output.h"

enum {
    TILE_ROWS = 8,    /* rows of a tile */
    NARROW = 256,     /* columns: a block of them is a single span of memory */
    L1_COLUMNS = 1024 /* columns whose sums stay in the first-level cache */
};

/* A tile's place in its piece: in the first block; at a block's beginning, at its end, or both. */
typedef struct place {
    bool first, begins, ends;
} place;

/* A vector of columns: m and the sums. A tile has four of them, each with a name: compilers spill
 * an array of them. */
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

/* At a block's end adds the sums to those of earlier blocks, else stores them for the next tile. */
NL_INLINE void store_sums(accumulator l, work w, size_t f, place in, float *sums) {
    if (in.ends && !in.first) {
        l.d += vload(NL_F32, sums, f, VLEN);
        l.squares += vload(NL_F32, sums + w.padded, f, VLEN);
    }
    if (!in.ends) sums += 2 * w.padded;
    vstore(NL_F32, sums, f, VLEN, l.d);
    vstore(NL_F32, sums + w.padded, f, VLEN, l.squares);
}

/* Rows [row, end) of columns [f, f_end). */
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

/* High tiles are for tensors that the cache holds. Memory is read in order: there a tile is one row
 * high, and the block's sums stay in the first-level cache. */
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

/* Goes row by row, so that x and y are accessed in memory order; in bf16 by two rows where that
 * pays: its conversion takes the time, not memory. */
NL_INLINE void put_columns(work w, nl_dtype t, bool cast, size_t row, size_t end, size_t begin,
                           size_t f_end, batch_recipe q) {
    const coefficients own = {.held = false};
    const size_t rows = end - row;
    const bool two =
        t == NL_BF16 && REGISTERS > 16 && q.tiles && !q.streaming && (q.inference || w.cached);
    const size_t ahead = w.columns > L1_COLUMNS ? (size_t)q.prefetch_rows * w.columns : 0;
    shared_line line = {.held = 0};
    for (size_t done = 0; done < rows; done += BLOCK)
        for (size_t f = begin; f < f_end; f += L1_COLUMNS)
            for (size_t i = done, next; i < least(done + BLOCK, rows); i = next) {
                next = two ? least(i + 2, least(done + BLOCK, rows)) : i + 1;
                const size_t at = (q.reverse ? end - next : row + i) * w.columns + f;
                const size_t width = least(L1_COLUMNS, f_end - f);
                if (next == i + 2)
                    put_two(w, t, cast, at, f, width, q);
                else
                    put_span(w, t, cast, own, at, f, width, q.reverse ? -ahead : ahead, &line, q);
            }
    put_waiting(&line);
}

#endif
