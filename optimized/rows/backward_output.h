/* Backward of the row norms, the second reading: computes dx, one row after another.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "vec/lines.h"
#include "backward_sums.h"

/* The terms of dx that the elements of a row share, in all lanes. */
typedef struct dx_terms {
    row_scale scale;
    vf by_xhat, constant;
    const kept_row *kept;
} dx_terms;

NL_INLINE dx_terms terms_of(const gradients *g, row_scale scale, double sum_g, double sum_gx) {
    const vf by_xhat = vset(-(float)(sum_gx * g->per_c));
    return (dx_terms){scale, by_xhat, vset(-(float)(sum_g * g->per_c)), NULL};
}

NL_INLINE vf without_g(vf xhat, dx_terms t, backward_recipe q) {
    if (q.centred) return vfma(xhat, t.by_xhat, t.constant);
    return xhat * t.by_xhat;
}

/* In 16 bits gain * dy is rounded first, as in the kept rungs, so all rungs have equal bits. */
NL_INLINE vf dx_of(nl_dtype type, vf x, vf dy, vf gain, dx_terms t, backward_recipe q) {
    const vf rest = without_g(xhat_of(x, t.scale, q), t, q);
    if (type == NL_F32) return vfma(dy, gain, rest) * t.scale.rstd;
    return (gain * dy + rest) * t.scale.rstd;
}

/* dresidual is tested per vector; a compile-time constant would double the code. */
NL_INLINE vf with_dresidual(const gradients *g, arrays of, size_t at, size_t k, vf dx) {
    if (of.dresidual) dx += vload(g->v.t, of.dresidual, at, k);
    return dx;
}

/* dx from the kept xhat and g. */
NL_INLINE vf kept_dx(size_t i, dx_terms t, backward_recipe q) {
    const vf xhat = vload(NL_F32, t.kept->xhat, i, VLEN), g = vload(NL_F32, t.kept->g, i, VLEN);
    return (g + without_g(xhat, t, q)) * t.scale.rstd;
}

/* dx of the row's k elements that start at i. */
NL_INLINE vf dx_at(const gradients *g, arrays of, size_t row, size_t i, size_t k, dx_terms t,
                   backward_recipe q) {
    if (q.kept) return with_dresidual(g, of, row + i, k, kept_dx(i, t, q));
    const vf gain = vload(NL_F32, g->gain, i, k);
    const vf dx = dx_of(g->v.t, vload(g->v.t, of.x, row + i, k), vload(g->v.t, of.dy, row + i, k),
                        gain, t, q);
    return with_dresidual(g, of, row + i, k, dx);
}

NL_INLINE void put_dx(const gradients *g, arrays of, size_t row, size_t ahead, size_t i, dx_terms t,
                      backward_recipe q) {
    const nl_dtype type = g->v.t;
    const vf dx = dx_at(g, of, row, i, VLEN, t, q);
    if (q.prefetch) prefetch(type, of.dy, row + ahead + i);
    if (q.prefetch && of.dresidual) prefetch(type, of.dresidual, row + ahead + i);
    if (q.streaming)
        vstream(type, of.dx, row + i, dx);
    else
        vstore(type, of.dx, row + i, VLEN, dx);
}

NL_INLINE void put_vectors(const gradients *g, arrays of, size_t row, size_t ahead, size_t i,
                           size_t end, dx_terms t, backward_recipe q) {
    for (; i + STEP <= end; i += STEP) {
        put_dx(g, of, row, ahead, i, t, q);
        put_dx(g, of, row, ahead, i + VLEN, t, q);
        put_dx(g, of, row, ahead, i + 2 * VLEN, t, q);
        put_dx(g, of, row, ahead, i + 3 * VLEN, t, q);
    }
    for (; i < end; i += VLEN) put_dx(g, of, row, ahead, i, t, q);
}

/* Stores dx of the row's elements [begin, end), starting at `to`. */
NL_INLINE void put_part(const gradients *g, arrays of, size_t row, size_t begin, size_t end,
                        void *to, dx_terms t, backward_recipe q) {
    for (size_t i = begin; i < end; i += VLEN) {
        const size_t k = end - i < VLEN ? end - i : VLEN;
        vstore(g->v.t, to, i - begin, k, dx_at(g, of, row, i, k, t, q));
    }
}

NL_INLINE void put_row_in_lines(const gradients *g, arrays of, size_t row, size_t ahead,
                                shared_line *line, dx_terms t, backward_recipe q) {
    const size_t c = g->v.c, size = nl_dtype_size(g->v.t);
    char *const dx = (char *)of.dx + row * size;
    const whole_lines w = whole_lines_of(dx, size, c);
    put_part(g, of, row, 0, w.begin, head_at(line, dx, w.begin * size), t, q);
    put_vectors(g, of, row, ahead, w.begin, w.end, t, q);
    put_if_whole(line);
    if (w.end == c) return;
    void *const rest = tail_at(line, dx + w.end * size, (c - w.end) * size);
    put_part(g, of, row, w.end, c, rest, t, q);
}

/* Whole vectors begin at dx's first vector boundary, as in output.h. The edges before and after the
 * whole vectors are loaded first and stored last, since dx may be dy or dresidual. */
NL_INLINE void put_row(const gradients *g, arrays of, size_t row, size_t ahead, dx_terms t,
                       backward_recipe q) {
    const size_t c = g->v.c, size = nl_dtype_size(g->v.t);
    if (c < VLEN) {
        vstore(g->v.t, of.dx, row, c, dx_at(g, of, row, 0, c, t, q));
        return;
    }
    const size_t off = ((uintptr_t)of.dx / size + row) % VLEN;
    const size_t begin = off ? VLEN - off : 0, end = begin + (c - begin) / VLEN * VLEN;
    vf head = vset(0), tail = vset(0);
    if (begin) head = dx_at(g, of, row, 0, VLEN, t, q);
    if (end < c) tail = dx_at(g, of, row, c - VLEN, VLEN, t, q);
    put_vectors(g, of, row, ahead, begin, end, t, q);
    if (begin) vstore(g->v.t, of.dx, row, VLEN, head);
    if (end < c) vstore(g->v.t, of.dx, row + c - VLEN, VLEN, tail);
}
