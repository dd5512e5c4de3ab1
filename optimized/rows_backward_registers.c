/* idea   Rows of up to four vectors: a row is read once and stays in registers, and so do the gain
 *        and the sums for dgamma and dbeta, from one row to the next.
 * gain   Short rows: five loads and two stores a vector less. Wider ones go the way of
 *        rows_backward_pipelined.
 * fails  What a row's sums come to is waited for in each; the processor goes on with the next
 *        meanwhile.
 * SPDX-License-Identifier: MIT */
#include "rows_backward.h"

NL_DECLARE(optimized_rows_backward_pipelined);

enum { VECTORS = 4 };

/* By name, as in rows_backward.h; those past the end of a row are never touched. */
typedef struct columns {
    column a, b, c, d;
} columns;

typedef struct cell {
    vf x, dy;
} cell;

NL_INLINE cell cell_at(const gradient *g, size_t at, size_t k, recipe q) {
    return (cell){x_at(g, at, k, q), dy_at(g, at, k, q)};
}

NL_INLINE void put_cell(const gradient *g, size_t at, size_t k, cell v, column *col, slope t,
                        recipe q) {
    const vf dx = dx_of(v.x, v.dy, col->gain, t, &col->dgamma, &col->dbeta, q);
    vstore(q.t, g->dx, at, k, with_dresidual(g, at, k, dx, q));
}

NL_INLINE sums no_sums(void) {
    return (sums){vset(0), vset(0)};
}

/* Row r of so many vectors, the last with k lanes. */
NL_INLINE void short_row(const gradient *g, columns *cols, size_t r, int vectors, size_t k,
                         recipe q) {
    const size_t at = r * g->c;
    const vf mean = mean_of(g, r, q);
    four s = {no_sums(), no_sums(), no_sums(), no_sums()};
    cell a, b, c, d;
    a = cell_at(g, at, vectors == 1 ? k : VLEN, q);
    s.a = add_vector(s.a, a.x, a.dy, cols->a.gain, mean, q);
    if (vectors > 1) b = cell_at(g, at + VLEN, vectors == 2 ? k : VLEN, q);
    if (vectors > 1) s.b = add_vector(s.b, b.x, b.dy, cols->b.gain, mean, q);
    if (vectors > 2) c = cell_at(g, at + 2 * VLEN, vectors == 3 ? k : VLEN, q);
    if (vectors > 2) s.c = add_vector(s.c, c.x, c.dy, cols->c.gain, mean, q);
    if (vectors > 3) d = cell_at(g, at + 3 * VLEN, k, q);
    if (vectors > 3) s.d = add_vector(s.d, d.x, d.dy, cols->d.gain, mean, q);
    const slope t = slope_of(g, r, total_of(s, q), q);
    put_cell(g, at, vectors == 1 ? k : VLEN, a, &cols->a, t, q);
    if (vectors > 1) put_cell(g, at + VLEN, vectors == 2 ? k : VLEN, b, &cols->b, t, q);
    if (vectors > 2) put_cell(g, at + 2 * VLEN, vectors == 3 ? k : VLEN, c, &cols->c, t, q);
    if (vectors > 3) put_cell(g, at + 3 * VLEN, k, d, &cols->d, t, q);
}

/* The columns come out of memory for as many rows as may be added in float. */
NL_INLINE void short_rows(const gradient *outer, int vectors, recipe q) {
    const gradient g = *outer;
    const size_t k = g.c - (size_t)(vectors - 1) * VLEN;
    for (size_t begin = 0; begin < g.n; begin += ROW_LANES) {
        const size_t end = g.n - begin < ROW_LANES ? g.n : begin + ROW_LANES;
        columns cols = {.a = g.columns[0]};
        if (vectors > 1) cols.b = g.columns[1];
        if (vectors > 2) cols.c = g.columns[2];
        if (vectors > 3) cols.d = g.columns[3];
        for (size_t r = begin; r < end; r++) short_row(&g, &cols, r, vectors, k, q);
        g.columns[0] = cols.a;
        if (vectors > 1) g.columns[1] = cols.b;
        if (vectors > 2) g.columns[2] = cols.c;
        if (vectors > 3) g.columns[3] = cols.d;
        put_away(outer);
    }
}

NL_INLINE void rows_of_length(const gradient *g, recipe q) {
    switch (vectors_of(g->c)) {
    case 1: short_rows(g, 1, q); break;
    case 2: short_rows(g, 2, q); break;
    case 3: short_rows(g, 3, q); break;
    case 4: short_rows(g, 4, q); break;
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    if (p->c > VECTORS * VLEN)
        NL_OTHER(optimized_rows_backward_pipelined)->backward(p, a, threads);
    else
        rows_backward_by(p, a, rows_of_length, (recipe){.pipelined = false});
}

NL_IMPL(.about = "short rows kept in registers", .ops = ROW_NORMS, .passes = NL_BIT(NL_BACKWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 6, .method = NL_TWO_PASS, .lanes = ROW_LANES,
        .backward = backward, .scratch = rows_backward_scratch);
