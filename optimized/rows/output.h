/* The output of a row in vector words, alone or in one loop with the sums of the next row.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "statistics.h"

NL_INLINE void assume(bool fact) {
    if (!fact) __builtin_unreachable();
}

/* y of the row's k elements that start at i, given their x. */
NL_INLINE vf y_of(nl_view v, size_t i, size_t k, vf x, stats s, row_recipe q) {
    vf y = x * vset(s.rstd);
    if (q.centred && q.statistics == TWO_PASS) y = (x - vset(s.m)) * vset(s.rstd);
    if (q.centred && q.statistics != TWO_PASS)
        y = vfma(x - vset(s.m), vset(s.rstd), vset(-s.shift));
    if (v.cast_before_weight) y = vround(v.t, y);
    const vf gain = vgain(v.gamma, v.plus_one, i, k);
    if (v.beta)
        y = vfma(y, gain, vload(NL_F32, v.beta, i, k));
    else if (v.gamma)
        y *= gain;
    return y;
}

NL_INLINE void put_x(nl_view v, size_t i, size_t k, vf x, stats s, row_recipe q, bool stream) {
    if (v.residual_out) vstore(v.t, v.residual_out, i, k, x);
    const vf y = y_of(v, i, k, x, s, q);
    if (stream)
        vstream(v.t, v.y, i, y);
    else
        vstore(v.t, v.y, i, k, y);
}

NL_INLINE void put(nl_view v, size_t i, stats s, row_recipe q, bool stream) {
    put_x(v, i, VLEN, load_x(v, i, VLEN), s, q, stream);
}

/* Whole vectors begin at y's first vector boundary, so that no store straddles two lines. Two extra
 * vectors, the edges, cover the elements before that boundary and after the last whole vector, and
 * overlap whole vectors. In place, edges and whole vectors would overwrite each other's x, so the
 * edges' x is loaded first, and the edges' y is stored last. */
typedef struct edges {
    size_t begin, end; /* range of the whole vectors */
    vf head, tail;
} edges;

NL_INLINE edges load_edges(nl_view row) {
    if (row.c < VLEN) return (edges){0, 0, load_x(row, 0, row.c), vset(0)};
    const size_t size = nl_dtype_size(row.t), off = (uintptr_t)row.y % (VLEN * size) / size;
    edges e = {.begin = off ? VLEN - off : 0};
    e.end = e.begin + (row.c - e.begin) / VLEN * VLEN;
    e.head = load_x(row, 0, VLEN), e.tail = load_x(row, row.c - VLEN, VLEN);
    return e;
}

NL_INLINE void put_edges(nl_view row, edges e, stats s, row_recipe q) {
    if (row.c < VLEN) {
        put_x(row, 0, row.c, e.head, s, q, false);
        return;
    }
    if (e.begin) put_x(row, 0, VLEN, e.head, s, q, false);
    if (e.end < row.c) put_x(row, row.c - VLEN, VLEN, e.tail, s, q, false);
}

NL_COLD void in_double(const nl_view *v, size_t r, bool centred) {
    const nl_view row = nl_row(*v, r);
    double mean = 0, squares = 0;
    for (size_t i = 0; centred && i < row.c; i++) mean += nl_x(row, i);
    mean /= (double)row.c;
    for (size_t i = 0; i < row.c; i++) squares += (nl_x(row, i) - mean) * (nl_x(row, i) - mean);
    double rstd = 1 / sqrt(squares / (double)row.c + (double)row.eps);
    for (size_t i = 0; i < row.c; i++) nl_put_y(row, i, (float)((nl_x(row, i) - mean) * rstd));
    nl_keep(row, (float)mean, (float)rstd);
}

NL_INLINE void put_row(nl_view row, stats s, row_recipe q) {
    const edges e = load_edges(row);
    size_t i = e.begin;
    for (; i + STEP <= e.end; i += STEP) {
        put(row, i, s, q, false);
        put(row, i + VLEN, s, q, false);
        put(row, i + 2 * VLEN, s, q, false);
        put(row, i + 3 * VLEN, s, q, false);
    }
    for (; i < e.end; i += VLEN) put(row, i, s, q, false);
    put_edges(row, e, s, q);
}

NL_INLINE void prefetch_step(nl_view row, size_t i, row_recipe q) {
    const size_t size = nl_dtype_size(row.t);
    for (size_t line = 0; q.prefetch_bytes && line < STEP * size; line += 64)
        vprefetch((const char *)row.x + i * size + line + q.prefetch_bytes);
}

/* Writes this row and, in the same loop, sums the next row around its guess. The sums have the
 * order of sum_piece(), so that a row's bits do not depend on its position in the batch. */
NL_INLINE totals put_row_and_sum(nl_view row, stats s, nl_view next, float guess, row_recipe q) {
    const vf m = vset(guess);
    const edges e = load_edges(row);
    four_sums t;
    earlier before = no_earlier();
    const size_t first = start_sums(&t, next, 0, row.c, m);
    size_t i = e.begin, j = first;
    while (i + STEP <= e.end && j + STEP <= row.c) {
        if (j > first) end_block(&before, &t, j - first);
        const size_t stop = block_end(j, row.c);
        for (; i + STEP <= e.end && j + STEP <= stop; i += STEP, j += STEP) {
            prefetch_step(next, j, q);
            accumulate(&t.a, next, j, VLEN, m);
            put(row, i, s, q, false);
            accumulate(&t.b, next, j + VLEN, VLEN, m);
            put(row, i + VLEN, s, q, false);
            accumulate(&t.c, next, j + 2 * VLEN, VLEN, m);
            put(row, i + 2 * VLEN, s, q, false);
            accumulate(&t.d, next, j + 3 * VLEN, VLEN, m);
            put(row, i + 3 * VLEN, s, q, false);
        }
    }
    for (; i < e.end; i += VLEN) put(row, i, s, q, false);
    put_edges(row, e, s, q);
    if (j + STEP <= row.c) { /* aligning y has shortened the loop by one step */
        if (j > first && (j - first) % SUM_BLOCK == 0) end_block(&before, &t, j - first);
        accumulate_step(&t, next, j, m);
        j += STEP;
    }
    return finish_sums(&t, before, row.c - first, next, j, row.c, m);
}
