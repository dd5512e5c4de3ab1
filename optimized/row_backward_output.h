/* Backward of the row norms, the second reading: dx, one row after the other.
 * SPDX-License-Identifier: MIT */
#ifndef NL_ROW_BACKWARD_OUTPUT_H
#define NL_ROW_BACKWARD_OUTPUT_H

#include "row_backward_sums.h"

/* A row's terms of dx, in all lanes. */
typedef struct dx_terms {
    row_scale scale;
    vf by_xhat, constant;
} dx_terms;

NL_INLINE dx_terms terms_of(const gradients *g, row_scale scale, double sum_g, double sum_gx) {
    return (dx_terms){scale, vset(-(float)(sum_gx * g->per_c)), vset(-(float)(sum_g * g->per_c))};
}

NL_INLINE vf dx_of(vf x, vf dy, vf gain, dx_terms t, backward_recipe q) {
    const vf xhat = xhat_of(x, t.scale, q);
    vf rest = xhat * t.by_xhat;
    if (q.centred) rest = vfma(xhat, t.by_xhat, t.constant);
    return vfma(dy, gain, rest) * t.scale.rstd;
}

/* dresidual is tested per vector; a compile-time constant would double the code. */
NL_INLINE vf with_dresidual(const gradients *g, size_t at, size_t k, vf dx) {
    if (g->v.dresidual) dx += vload(g->v.t, g->v.dresidual, at, k);
    return dx;
}

/* dx of the row's k elements from i on; `row` is the row's first element. */
NL_INLINE vf dx_at(const gradients *g, size_t row, size_t i, size_t k, dx_terms t,
                   backward_recipe q) {
    const vf gain = vload(NL_F32, g->gain, i, k);
    const vf dx = dx_of(load_x(g, row + i, k), load_dy(g, row + i, k), gain, t, q);
    return with_dresidual(g, row + i, k, dx);
}

NL_INLINE void put_dx(const gradients *g, size_t row, size_t i, dx_terms t, backward_recipe q) {
    const vf dx = dx_at(g, row, i, VLEN, t, q);
    if (q.streaming) {
        const size_t ahead = row + (size_t)q.rows * g->v.c + i;
        prefetch(g, g->v.dy, ahead);
        if (g->v.dresidual) prefetch(g, g->v.dresidual, ahead);
        vstream(g->v.t, g->v.dx, row + i, dx);
    } else {
        vstore(g->v.t, g->v.dx, row + i, VLEN, dx);
    }
}

/* Whole vectors begin at dx's first vector boundary, as in row_output.h; the edges before and
 * after them are loaded first and stored last, since dx may be dy or dresidual. */
NL_INLINE void put_row(const gradients *g, size_t r, dx_terms t, backward_recipe q) {
    const size_t c = g->v.c, row = r * c, size = nl_dtype_size(g->v.t);
    if (c < VLEN) {
        vstore(g->v.t, g->v.dx, row, c, dx_at(g, row, 0, c, t, q));
        return;
    }
    const size_t off = ((uintptr_t)g->v.dx / size + row) % VLEN;
    size_t i = off ? VLEN - off : 0;
    const size_t begin = i, end = i + (c - i) / VLEN * VLEN;
    vf head = vset(0), tail = vset(0);
    if (begin) head = dx_at(g, row, 0, VLEN, t, q);
    if (end < c) tail = dx_at(g, row, c - VLEN, VLEN, t, q);
    for (; i + STEP <= end; i += STEP) {
        put_dx(g, row, i, t, q);
        put_dx(g, row, i + VLEN, t, q);
        put_dx(g, row, i + 2 * VLEN, t, q);
        put_dx(g, row, i + 3 * VLEN, t, q);
    }
    for (; i < end; i += VLEN) put_dx(g, row, i, t, q);
    if (begin) vstore(g->v.t, g->v.dx, row, VLEN, head);
    if (end < c) vstore(g->v.t, g->v.dx, row + c - VLEN, VLEN, tail);
}

/* A block's rows, from r on. */
NL_INLINE void put_block(const gradients *g, size_t r, backward_recipe q) {
    const block b = sum_block(g, r, q);
    for (int a = 0; a < q.rows; a++)
        put_row(g, r + (size_t)a, terms_of(g, b.scale[a], b.g[a], b.gx[a]), q);
}

#endif
