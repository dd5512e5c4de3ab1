/* Finds the rows of a row norm by the tensors' nl_stride. SPDX-License-Identifier: MIT */
#pragma once

#include "dtype.h"

/* Replaces zeros by the strides of contiguous rows. If inner is 1, rows are `outer` apart. */
NL_INLINE nl_stride nl_stride_of(const nl_problem *p, nl_stride s) {
    if (p->inner == 1 && s.outer) s.row = s.outer;
    if (!s.row) s.row = p->c;
    if (!s.outer) s.outer = p->inner * s.row;
    return s;
}

NL_INLINE bool nl_follows(const nl_problem *p, nl_stride s) {
    s = nl_stride_of(p, s);
    return s.row == p->c && s.outer == p->inner * p->c;
}

/* Are the rows of all tensors contiguous? Tests the usual case first: all strides are zero. */
NL_INLINE bool nl_is_packed(const nl_problem *p) {
    const nl_stride *x = &p->x_stride, *dy = &p->dy_stride, *residual = &p->residual_stride,
                    *y = &p->y_stride, *out = &p->residual_out_stride;
    if (!(x->row | dy->row | residual->row | y->row | out->row | x->outer | dy->outer |
          residual->outer | y->outer | out->outer))
        return true;
    return nl_follows(p, *x) && nl_follows(p, *dy) && nl_follows(p, *residual) &&
           nl_follows(p, *y) && nl_follows(p, *out);
}

/* A division takes as long as a short row, so r / inner is computed as r * reciprocal / 2^64,
 * rounded down. The result is exact up to 2^32 rows. */
static inline nl_rows nl_rows_of(const nl_problem *p) {
    nl_rows rows = {.x = nl_stride_of(p, p->x_stride),
                    .dy = nl_stride_of(p, p->dy_stride),
                    .residual = nl_stride_of(p, p->residual_stride),
                    .y = nl_stride_of(p, p->y_stride),
                    .residual_out = nl_stride_of(p, p->residual_out_stride)};
    if (p->inner > 1) rows.inner = p->inner, rows.reciprocal = UINT64_MAX / p->inner + 1;
    return rows;
}

/* The index of the first element of row r. */
NL_INLINE size_t nl_row_at(const nl_rows *rows, nl_stride s, size_t r) {
    const size_t outer = (size_t)((unsigned __int128)r * rows->reciprocal >> 64);
    return outer * s.outer + (r - outer * rows->inner) * s.row;
}

/* Elements from the start of a tensor to the end of its last row; n must not be 0. SIZE_MAX: more
 * than memory can address. */
static inline size_t nl_span(const nl_problem *p, nl_stride s) {
    const size_t rows = p->inner ? p->inner : p->n, outer = p->inner ? p->n / p->inner : 1;
    size_t a, b, all;
    if (__builtin_mul_overflow(rows - 1, s.row, &a) ||
        __builtin_mul_overflow(outer - 1, s.outer, &b) || __builtin_add_overflow(a, b, &all) ||
        __builtin_add_overflow(all, p->c, &all) || all > SIZE_MAX / 16)
        return SIZE_MAX;
    return all;
}

/* Are the rows disjoint? They are if all inner rows fit in one outer stride, or all outer rows in
 * one inner stride. s: a result of nl_stride_of(). */
NL_INLINE bool nl_rows_are_apart(const nl_problem *p, nl_stride s) {
    const size_t rows = p->inner ? p->inner : p->n, outer = p->inner ? p->n / p->inner : 1;
    if (rows > 1 && s.row < p->c) return false;
    if (outer == 1) return true;
    return s.outer >= (rows - 1) * s.row + p->c ||
           (s.outer >= p->c && s.row >= (outer - 1) * s.outer + p->c);
}
