/* Where the rows of a row norm begin: nl_stride of normlab.h, with its zeros filled in.
 * SPDX-License-Identifier: MIT */
#ifndef NL_STRIDES_H
#define NL_STRIDES_H

#include "dtype.h"

/* Row r counts from `first`. Dividing takes as long as a short row, so r / inner is r * reciprocal /
 * 2^64, rounded down: exact up to 2^32 rows. Both are 0 where there is no inner dimension. */
typedef struct nl_rows {
    size_t first, inner;
    uint64_t reciprocal;
} nl_rows;

/* plan may be NULL. */
NL_INLINE nl_rows nl_rows_of(const nl_problem *p, const nl_plan *plan) {
    nl_rows rows = {.first = plan ? plan->first : 0};
    if (p->inner > 1) rows.inner = p->inner, rows.reciprocal = UINT64_MAX / p->inner + 1;
    return rows;
}

/* An inner dimension of one row leaves the outer one. */
NL_INLINE nl_stride nl_stride_of(const nl_problem *p, nl_stride s) {
    if (p->inner == 1 && s.outer) s.row = s.outer;
    if (!s.row) s.row = p->c;
    if (!s.outer) s.outer = p->inner * s.row;
    return s;
}

NL_INLINE bool nl_follows(nl_stride s, size_t c, size_t inner) {
    return (!s.row || s.row == c) && (!s.outer || s.outer == inner * c);
}

/* Do the rows of all tensors follow each other? */
NL_INLINE bool nl_is_packed(const nl_problem *p) {
    return nl_follows(p->x_stride, p->c, p->inner) && nl_follows(p->dy_stride, p->c, p->inner) &&
           nl_follows(p->residual_stride, p->c, p->inner) &&
           nl_follows(p->y_stride, p->c, p->inner) &&
           nl_follows(p->residual_out_stride, p->c, p->inner);
}

/* The index of the first element of row r. */
NL_INLINE size_t nl_row_at(nl_rows rows, nl_stride s, size_t r) {
    r += rows.first;
    const size_t outer = (size_t)((unsigned __int128)r * rows.reciprocal >> 64);
    return outer * s.outer + (r - outer * rows.inner) * s.row;
}

/* Elements from the first of a tensor to the end of its last row; n is not 0. SIZE_MAX: more than
 * there can be. */
static inline size_t nl_span(const nl_problem *p, nl_stride s) {
    const size_t rows = p->inner ? p->inner : p->n, outer = p->inner ? p->n / p->inner : 1;
    size_t a, b, all;
    if (__builtin_mul_overflow(rows - 1, s.row, &a) ||
        __builtin_mul_overflow(outer - 1, s.outer, &b) || __builtin_add_overflow(a, b, &all) ||
        __builtin_add_overflow(all, p->c, &all) || all > SIZE_MAX / 16)
        return SIZE_MAX;
    return all;
}

#endif
