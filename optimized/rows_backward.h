/* Backward of LayerNorm, RMSNorm and Qwen2RMSNorm in vector words: first the sums along a row, then
 * a run over its columns that makes dx and adds to the sums for dgamma and dbeta. A rung is a
 * recipe, as in rows.h. With g = gain * dy, d = x - mean:
 *     dx = (dy * rstd) * gain + d * by_d + constant,   dgamma += (dy * rstd) * d,   dbeta += dy
 *     by_d = -rstd^2 * mean(g * xhat),   constant = -rstd * mean(g)
 * dresidual, where there is one, is added to dx last.
 * SPDX-License-Identifier: MIT */
#ifndef NL_ROWS_BACKWARD_H
#define NL_ROWS_BACKWARD_H

#include "row_gradients.h"

typedef struct recipe {
    nl_dtype t;
    bool centred;   /* LayerNorm */
    bool blocks;    /* four rows go through both together */
    bool pipelined; /* the next row's sums inside this row's run */
    bool streaming; /* dx past the caches, and the next block asked for */
} recipe;

/* Lanes of a sum along a row, in one vector for each row of a block, or in four; and as many rows
 * or blocks are added up for dgamma and dbeta in float, and those sums in two floats: their error
 * does not grow with the number of rows. */
enum { BLOCK = 4, STEP = 4 * VLEN, BLOCK_LANES = VLEN, ROW_LANES = STEP };

/* Rows are summed in pieces of so many columns, as in rows.h; and blocks of longer ones would not
 * stay in a cache from the sums to dx. */
enum { PIECE = 16384 };

/* Of one row: the sums of g and g * d; and what they come to, in all lanes. */
typedef struct sums {
    vf g, gd;
} sums;

typedef struct totals {
    double g, gd;
} totals;

typedef struct slope {
    vf mean, rstd, by_d, constant;
} slope;

NL_INLINE vf x_at(const gradient *g, size_t at, size_t k, recipe q) {
    return vload(q.t, g->x, at, k);
}

NL_INLINE vf dy_at(const gradient *g, size_t at, size_t k, recipe q) {
    return vload(q.t, g->dy, at, k);
}

/* Lanes that are not real have dy = 0 and a gain of 0. */
NL_INLINE sums add_vector(sums s, vf x, vf dy, vf gain, vf mean, recipe q) {
    const vf part = gain * dy;
    if (q.centred) x -= mean, s.g += part;
    s.gd = vfma(part, x, s.gd);
    return s;
}

NL_INLINE sums add(sums s, const gradient *g, size_t at, size_t k, vf gain, vf mean, recipe q) {
    return add_vector(s, x_at(g, at, k, q), dy_at(g, at, k, q), gain, mean, q);
}

NL_INLINE totals total(sums s, recipe q) {
    return (totals){q.centred ? vsum(s.g) : 0, vsum(s.gd)};
}

/* Four vectors of a sum, by name: compilers keep arrays in memory. */
typedef struct four {
    sums a, b, c, d;
} four;

NL_INLINE totals total_of(four s, recipe q) {
    const sums all = {(s.a.g + s.c.g) + (s.b.g + s.d.g), (s.a.gd + s.c.gd) + (s.b.gd + s.d.gd)};
    return total(q.blocks ? s.a : all, q);
}

NL_INLINE vf mean_of(const gradient *g, size_t r, recipe q) {
    return vset(q.centred ? g->mean[r] : 0);
}

/* One value is its own mean, and y does not depend on it. */
NL_INLINE slope slope_of(const gradient *g, size_t r, totals t, recipe q) {
    const float rstd = q.centred && g->c == 1 ? 0 * g->rstd[r] : g->rstd[r];
    const float mean_g = (float)(t.g * g->per), mean_gx = (float)(t.gd * g->per * rstd);
    return (slope){mean_of(g, r, q), vset(rstd), vset(-rstd * (rstd * mean_gx)),
                   vset(-rstd * mean_g)};
}

/* dx of one vector; what it has for dgamma and dbeta is added to them. */
NL_INLINE vf dx_of(vf x, vf dy, vf gain, slope s, vf *dgamma, vf *dbeta, recipe q) {
    const vf scaled = dy * s.rstd;
    vf rest = x * s.by_d;
    if (q.centred) x -= s.mean, rest = vfma(x, s.by_d, s.constant), *dbeta += dy;
    *dgamma = vfma(scaled, x, *dgamma);
    return vfma(scaled, gain, rest);
}

/* Whether there is one is asked at every vector: as a constant it would double the code. */
NL_INLINE vf with_dresidual(const gradient *g, size_t at, size_t k, vf dx, recipe q) {
    if (g->dresidual) dx += vload(q.t, g->dresidual, at, k);
    return dx;
}

NL_INLINE void put_dx(const gradient *g, size_t at, size_t k, vf dx, recipe q) {
    if (q.streaming)
        vstream(q.t, g->dx, at, dx);
    else
        vstore(q.t, g->dx, at, k, dx);
}

NL_INLINE void dx_step(const gradient *g, size_t at, size_t k, column *col, slope s, recipe q) {
    const vf x = x_at(g, at, k, q), dy = dy_at(g, at, k, q);
    const vf dx = dx_of(x, dy, col->gain, s, &col->dgamma, &col->dbeta, q);
    put_dx(g, at, k, with_dresidual(g, at, k, dx, q), q);
}

/* Of columns i and following, before stop. */
NL_INLINE totals sum_piece(const gradient *g, size_t r, size_t i, size_t stop, recipe q) {
    const vf mean = mean_of(g, r, q);
    const column *col = g->columns + i / VLEN;
    const size_t at = r * g->c;
    const sums none = {vset(0), vset(0)};
    four s = {none, none, none, none};
    for (; !q.blocks && i + STEP <= stop; i += STEP, col += 4) {
        s.a = add(s.a, g, at + i, VLEN, col[0].gain, mean, q);
        s.b = add(s.b, g, at + i + VLEN, VLEN, col[1].gain, mean, q);
        s.c = add(s.c, g, at + i + 2 * VLEN, VLEN, col[2].gain, mean, q);
        s.d = add(s.d, g, at + i + 3 * VLEN, VLEN, col[3].gain, mean, q);
    }
    for (; i + VLEN <= stop; i += VLEN, col++) s.a = add(s.a, g, at + i, VLEN, col->gain, mean, q);
    if (i < stop) s.a = add(s.a, g, at + i, stop - i, col->gain, mean, q);
    return total_of(s, q);
}

NL_INLINE totals sum_row(const gradient *g, size_t r, recipe q) {
    if (g->c <= PIECE) return sum_piece(g, r, 0, g->c, q);
    totals all = {0, 0};
    for (size_t i = 0; i < g->c; i += PIECE) {
        const totals t = sum_piece(g, r, i, g->c - i < PIECE ? g->c : i + PIECE, q);
        all.g += t.g, all.gd += t.gd;
    }
    return all;
}

/* One vector of a row's dx; and if q says so, for the sums of the next row. */
NL_INLINE sums step(sums s, const gradient *g, size_t at, size_t k, column *col, slope t, vf mean,
                    recipe q) {
    if (q.pipelined) s = add(s, g, at + g->c, k, col->gain, mean, q);
    dx_step(g, at, k, col, t, q);
    return s;
}

/* dx of a row, and the sums of the next, in the order of sum_row(). */
NL_INLINE totals put_row(const gradient *g, size_t r, slope t, recipe q) {
    const vf mean = mean_of(g, q.pipelined ? r + 1 : r, q);
    const size_t c = g->c;
    const sums none = {vset(0), vset(0)};
    four s = {none, none, none, none};
    column *col = g->columns;
    size_t i = 0, at = r * c;
    for (; i + STEP <= c; i += STEP, at += STEP, col += 4) {
        s.a = step(s.a, g, at, VLEN, col, t, mean, q);
        s.b = step(s.b, g, at + VLEN, VLEN, col + 1, t, mean, q);
        s.c = step(s.c, g, at + 2 * VLEN, VLEN, col + 2, t, mean, q);
        s.d = step(s.d, g, at + 3 * VLEN, VLEN, col + 3, t, mean, q);
    }
    for (; i + VLEN <= c; i += VLEN, at += VLEN, col++)
        s.a = step(s.a, g, at, VLEN, col, t, mean, q);
    if (i < c) s.a = step(s.a, g, at, c - i, col, t, mean, q);
    return q.pipelined ? total_of(s, q) : (totals){0, 0};
}

NL_INLINE void ask_for(const gradient *g, size_t at, recipe q) {
    const size_t byte = at * (q.t == NL_F32 ? 4 : 2);
    vprefetch((const char *)g->x + byte);
    vprefetch((const char *)g->dy + byte);
    if (g->dresidual) vprefetch((const char *)g->dresidual + byte);
}

/* All is read before anything is written: rows are often a multiple of 4 KiB apart, and a load
 * waits for a store whose address has the same last 12 bits. */
NL_INLINE void dx_steps(const gradient *g, size_t at, size_t k, column *col, slope s0, slope s1,
                        slope s2, slope s3, recipe q) {
    const size_t c = g->c;
    const vf gain = col->gain;
    const vf dy0 = dy_at(g, at, k, q), dy1 = dy_at(g, at + c, k, q);
    const vf dy2 = dy_at(g, at + 2 * c, k, q), dy3 = dy_at(g, at + 3 * c, k, q);
    const vf x0 = x_at(g, at, k, q), x1 = x_at(g, at + c, k, q);
    const vf x2 = x_at(g, at + 2 * c, k, q), x3 = x_at(g, at + 3 * c, k, q);
    vf dgamma = vset(0), dbeta = vset(0);
    vf dx0 = dx_of(x0, dy0, gain, s0, &dgamma, &dbeta, q);
    vf dx1 = dx_of(x1, dy1, gain, s1, &dgamma, &dbeta, q);
    vf dx2 = dx_of(x2, dy2, gain, s2, &dgamma, &dbeta, q);
    vf dx3 = dx_of(x3, dy3, gain, s3, &dgamma, &dbeta, q);
    if (g->dresidual) {
        dx0 = with_dresidual(g, at, k, dx0, q), dx1 = with_dresidual(g, at + c, k, dx1, q);
        dx2 = with_dresidual(g, at + 2 * c, k, dx2, q);
        dx3 = with_dresidual(g, at + 3 * c, k, dx3, q);
    }
    if (q.streaming) {
        ask_for(g, at + 4 * c, q), ask_for(g, at + 5 * c, q);
        ask_for(g, at + 6 * c, q), ask_for(g, at + 7 * c, q);
    }
    put_dx(g, at, k, dx0, q), put_dx(g, at + c, k, dx1, q);
    put_dx(g, at + 2 * c, k, dx2, q), put_dx(g, at + 3 * c, k, dx3, q);
    col->dgamma += dgamma;
    if (q.centred) col->dbeta += dbeta;
}

/* Each row's sums in the order of sum_row(), so that its bits do not depend on where it is. */
NL_INLINE void put_block(const gradient *g, size_t r, recipe q) {
    const size_t c = g->c;
    const vf m0 = mean_of(g, r, q), m1 = mean_of(g, r + 1, q);
    const vf m2 = mean_of(g, r + 2, q), m3 = mean_of(g, r + 3, q);
    sums s0 = {vset(0), vset(0)}, s1 = s0, s2 = s0, s3 = s0;
    column *col = g->columns;
    size_t i = 0;
    for (; i + VLEN <= c; i += VLEN, col++) {
        s0 = add(s0, g, r * c + i, VLEN, col->gain, m0, q);
        s1 = add(s1, g, r * c + c + i, VLEN, col->gain, m1, q);
        s2 = add(s2, g, r * c + 2 * c + i, VLEN, col->gain, m2, q);
        s3 = add(s3, g, r * c + 3 * c + i, VLEN, col->gain, m3, q);
    }
    if (i < c) {
        s0 = add(s0, g, r * c + i, c - i, col->gain, m0, q);
        s1 = add(s1, g, r * c + c + i, c - i, col->gain, m1, q);
        s2 = add(s2, g, r * c + 2 * c + i, c - i, col->gain, m2, q);
        s3 = add(s3, g, r * c + 3 * c + i, c - i, col->gain, m3, q);
    }
    const slope t0 = slope_of(g, r, total(s0, q), q);
    const slope t1 = slope_of(g, r + 1, total(s1, q), q);
    const slope t2 = slope_of(g, r + 2, total(s2, q), q);
    const slope t3 = slope_of(g, r + 3, total(s3, q), q);
    for (i = 0, col = g->columns; i + VLEN <= c; i += VLEN, col++)
        dx_steps(g, r * c + i, VLEN, col, t0, t1, t2, t3, q);
    if (i < c) dx_steps(g, r * c + i, c - i, col, t0, t1, t2, t3, q);
}

/* Rows r and following, one after the other. */
NL_INLINE void put_rows(const gradient *g, const gradient *outer, size_t r, recipe q) {
    const size_t lanes = q.blocks ? BLOCK_LANES : ROW_LANES;
    recipe last = q;
    last.pipelined = false;
    totals t;
    for (bool known = false; r < g->n; r++) {
        if (!known) t = sum_row(g, r, q);
        const slope s = slope_of(g, r, t, q);
        known = q.pipelined && r + 1 < g->n && g->c <= PIECE;
        if (known)
            t = put_row(g, r, s, q);
        else
            put_row(g, r, s, last);
        if ((r + 1) % lanes == 0) put_away(outer);
    }
}

NL_INLINE void all_rows(const gradient *outer, recipe q) {
    const gradient g = *outer; /* nobody else has its address: what is in it stays in registers */
    size_t r = 0;
    for (; q.blocks && g.c <= PIECE && r + BLOCK <= g.n; r += BLOCK) {
        put_block(&g, r, q);
        if ((r / BLOCK + 1) % BLOCK_LANES == 0) put_away(outer);
    }
    put_rows(&g, outer, r, q);
    if (q.streaming) vfence();
}

/* How a rung goes through all rows, once their type and layer are constants. */
typedef void rows_function(const gradient *g, recipe q);

NL_INLINE void rows_of_type(const gradient *g, rows_function *rows, nl_dtype t, recipe q) {
    q.t = t, q.centred = true;
    if (g->mean) {
        rows(g, q);
        return;
    }
    q.centred = false;
    rows(g, q);
}

NL_INLINE void rows_backward_by(const nl_problem *p, const nl_backward_args *a, rows_function *rows,
                                recipe q) {
    const size_t n = p->n, c = p->c;
    gradient g = {.n = n,
                  .c = c,
                  .per = 1 / (double)c,
                  .x = a->x,
                  .dy = a->dy,
                  .dresidual = a->dresidual,
                  .dx = a->dx,
                  .mean = a->mean,
                  .rstd = a->rstd,
                  .columns = a->scratch};
    if (n > (c > PIECE ? BLOCK_LANES : ROW_LANES)) g.olders = (older *)(g.columns + vectors_of(c));
    begin_columns(&g, a->gamma, p->op == NL_QWEN2_RMSNORM);
    switch (p->dtype) {
    case NL_F32: rows_of_type(&g, rows, NL_F32, q); break;
    case NL_F16: rows_of_type(&g, rows, NL_F16, q); break;
    case NL_BF16: rows_of_type(&g, rows, NL_BF16, q); break;
    }
    end_columns(&g, a->dgamma, a->dbeta);
}

/* The whole of a rung's backward(). */
NL_INLINE void rows_backward(const nl_problem *p, const nl_backward_args *a, recipe q) {
    rows_backward_by(p, a, all_rows, q);
}

static size_t rows_backward_scratch(const nl_problem *p) {
    return vectors_of(p->c) * (sizeof(column) + (p->n > BLOCK_LANES ? sizeof(older) : 0));
}

enum { ROW_NORMS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };

#endif
