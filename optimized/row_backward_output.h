/* Backward of the row norms, dx and the terms of dgamma and dbeta: of one row, of one row in one
 * loop with the sums of the next, or of a block of four rows. SPDX-License-Identifier: MIT */
#ifndef NL_ROW_BACKWARD_OUTPUT_H
#define NL_ROW_BACKWARD_OUTPUT_H

#include "row_backward_sums.h"

/* Returns dx of one vector and adds its terms to dgamma and dbeta. */
NL_INLINE vf dx_of(vf x, vf dy, vf gain, dx_terms t, vf *dgamma, vf *dbeta, backward_recipe q) {
    if (q.centred) x -= t.mean, *dbeta += dy;
    const vf xhat = x * t.rstd;
    *dgamma = vfma(dy, xhat, *dgamma);
    vf rest = xhat * t.by_xhat;
    if (q.centred) rest = vfma(xhat, t.by_xhat, t.constant);
    return vfma(dy, gain, rest) * t.rstd;
}

/* dresidual is tested per vector; a compile-time constant would double the code. */
NL_INLINE vf with_dresidual(const gradients *g, size_t at, size_t k, vf dx) {
    if (g->v.dresidual) dx += vload(g->v.t, g->v.dresidual, at, k);
    return dx;
}

NL_INLINE void put_dx(const gradients *g, size_t at, size_t k, vf dx, backward_recipe q) {
    if (q.streaming && g->aligned)
        vstream(g->v.t, g->v.dx, at, dx);
    else
        vstore(g->v.t, g->v.dx, at, k, dx);
}

/* One vector of a row's dx; when pipelined, also of the next row's sums. */
NL_INLINE sums put_vector(sums s, const gradients *g, size_t at, size_t k, column *col, dx_terms t,
                          vf next_mean, backward_recipe q) {
    if (q.pipelined) s = add(s, g, at + g->v.c, k, col->gain, next_mean, q);
    const vf x = load_x(g, at, k), dy = load_dy(g, at, k);
    const vf dx = dx_of(x, dy, col->gain, t, &col->dgamma, &col->dbeta, q);
    put_dx(g, at, k, with_dresidual(g, at, k, dx), q);
    return s;
}

/* dx of row r, and when pipelined the sums of the next row, in the order of sum_row(). */
NL_INLINE totals put_row(const gradients *g, size_t r, dx_terms t, backward_recipe q) {
    const vf mean = mean_of(g, q.pipelined ? r + 1 : r, q);
    const size_t c = g->v.c;
    four_sums s = no_four_sums();
    earlier before = no_earlier();
    column *col = g->columns;
    size_t i = 0, at = r * c;
    while (i + VLEN <= c) {
        if (q.pipelined && i > 0) end_block(&before, &s, i);
        const size_t end = q.pipelined ? block_end(i, c) : c;
        for (; i + STEP <= end; i += STEP, at += STEP, col += 4) {
            s.a = put_vector(s.a, g, at, VLEN, col, t, mean, q);
            s.b = put_vector(s.b, g, at + VLEN, VLEN, col + 1, t, mean, q);
            s.c = put_vector(s.c, g, at + 2 * VLEN, VLEN, col + 2, t, mean, q);
            s.d = put_vector(s.d, g, at + 3 * VLEN, VLEN, col + 3, t, mean, q);
        }
        for (; i + VLEN <= end; i += VLEN, at += VLEN, col++)
            s.a = put_vector(s.a, g, at, VLEN, col, t, mean, q);
    }
    if (i < c) s.a = put_vector(s.a, g, at, c - i, col, t, mean, q);
    return q.pipelined ? total(with_earlier(all_four(s), before, c), q) : (totals){0, 0};
}

NL_INLINE void prefetch_at(const gradients *g, size_t at) {
    const size_t byte = at * nl_dtype_size(g->v.t);
    vprefetch((const char *)g->v.x + byte);
    vprefetch((const char *)g->v.dy + byte);
    if (g->v.dresidual) vprefetch((const char *)g->v.dresidual + byte);
}

/* One vector of each row of a block. All loads precede all stores: rows are often a multiple
 * of 4 KiB apart, and a load whose last 12 address bits alias a pending store's waits for it. */
NL_INLINE void put_block_vector(const gradients *g, size_t at, size_t k, column *col, dx_terms t0,
                                dx_terms t1, dx_terms t2, dx_terms t3, backward_recipe q) {
    const size_t c = g->v.c;
    const vf gain = col->gain;
    const vf dy0 = load_dy(g, at, k), dy1 = load_dy(g, at + c, k);
    const vf dy2 = load_dy(g, at + 2 * c, k), dy3 = load_dy(g, at + 3 * c, k);
    const vf x0 = load_x(g, at, k), x1 = load_x(g, at + c, k);
    const vf x2 = load_x(g, at + 2 * c, k), x3 = load_x(g, at + 3 * c, k);
    vf dgamma = vset(0), dbeta = vset(0);
    vf dx0 = dx_of(x0, dy0, gain, t0, &dgamma, &dbeta, q);
    vf dx1 = dx_of(x1, dy1, gain, t1, &dgamma, &dbeta, q);
    vf dx2 = dx_of(x2, dy2, gain, t2, &dgamma, &dbeta, q);
    vf dx3 = dx_of(x3, dy3, gain, t3, &dgamma, &dbeta, q);
    if (g->v.dresidual) {
        dx0 = with_dresidual(g, at, k, dx0), dx1 = with_dresidual(g, at + c, k, dx1);
        dx2 = with_dresidual(g, at + 2 * c, k, dx2), dx3 = with_dresidual(g, at + 3 * c, k, dx3);
    }
    if (q.streaming) {
        prefetch_at(g, at + 4 * c), prefetch_at(g, at + 5 * c);
        prefetch_at(g, at + 6 * c), prefetch_at(g, at + 7 * c);
    }
    put_dx(g, at, k, dx0, q), put_dx(g, at + c, k, dx1, q);
    put_dx(g, at + 2 * c, k, dx2, q), put_dx(g, at + 3 * c, k, dx3, q);
    col->dgamma += dgamma;
    if (q.centred) col->dbeta += dbeta;
}

/* Rows r to r + 3. Each row's sums are added in the order of sum_row(): its bits do not depend on
 * its place in the batch. */
NL_INLINE void put_block(const gradients *g, size_t r, backward_recipe q) {
    const size_t c = g->v.c;
    const vf m0 = mean_of(g, r, q), m1 = mean_of(g, r + 1, q);
    const vf m2 = mean_of(g, r + 2, q), m3 = mean_of(g, r + 3, q);
    four_sums s = no_four_sums(); /* of a row each */
    earlier b0 = no_earlier(), b1 = b0, b2 = b0, b3 = b0;
    column *col = g->columns;
    size_t i = 0;
    while (i + VLEN <= c) {
        if (i > 0) {
            join(&b0, s.a, i), join(&b1, s.b, i), join(&b2, s.c, i), join(&b3, s.d, i);
            s = no_four_sums();
        }
        for (const size_t end = block_end(i, c); i + VLEN <= end; i += VLEN, col++) {
            s.a = add(s.a, g, r * c + i, VLEN, col->gain, m0, q);
            s.b = add(s.b, g, r * c + c + i, VLEN, col->gain, m1, q);
            s.c = add(s.c, g, r * c + 2 * c + i, VLEN, col->gain, m2, q);
            s.d = add(s.d, g, r * c + 3 * c + i, VLEN, col->gain, m3, q);
        }
    }
    if (i < c) {
        s.a = add(s.a, g, r * c + i, c - i, col->gain, m0, q);
        s.b = add(s.b, g, r * c + c + i, c - i, col->gain, m1, q);
        s.c = add(s.c, g, r * c + 2 * c + i, c - i, col->gain, m2, q);
        s.d = add(s.d, g, r * c + 3 * c + i, c - i, col->gain, m3, q);
    }
    const dx_terms t0 = terms_of(g, r, total(with_earlier(s.a, b0, c), q), q);
    const dx_terms t1 = terms_of(g, r + 1, total(with_earlier(s.b, b1, c), q), q);
    const dx_terms t2 = terms_of(g, r + 2, total(with_earlier(s.c, b2, c), q), q);
    const dx_terms t3 = terms_of(g, r + 3, total(with_earlier(s.d, b3, c), q), q);
    for (i = 0, col = g->columns; i + VLEN <= c; i += VLEN, col++)
        put_block_vector(g, r * c + i, VLEN, col, t0, t1, t2, t3, q);
    if (i < c) put_block_vector(g, r * c + i, c - i, col, t0, t1, t2, t3, q);
}

#endif
