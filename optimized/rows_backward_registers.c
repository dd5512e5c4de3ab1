/* idea   Rows of up to four vectors: a row is read once and stays in registers. The gain and the
 *        sums for dgamma and dbeta also stay in registers, for many rows.
 * gain   Saves six loads and two stores per vector of a short row. This rung rejects wider rows.
 * fails  A row's dx waits for its sums, although the processor starts on the next row meanwhile.
 * SPDX-License-Identifier: MIT */
#include "rows/backward_output.h"

enum { VECTORS = 4 };

/* A vector of columns. Vectors are separate variables, as in rows/sums.h; some may be unused. */
typedef struct column {
    vf gain, dgamma, dbeta;
} column;

typedef struct columns {
    column a, b, c, d;
} columns;

typedef struct cell {
    vf x, dy;
} cell;

NL_INLINE column begin_column(const gradients *g, size_t j) {
    return (column){vload(NL_F32, g->gain, j * VLEN, VLEN), vset(0), vset(0)};
}

NL_INLINE void store_column(const gradients *g, size_t j, column col) {
    vstore(NL_F32, g->dgamma, j * VLEN, VLEN, col.dgamma);
    vstore(NL_F32, g->dbeta, j * VLEN, VLEN, col.dbeta);
}

NL_INLINE cell cell_at(const gradients *g, arrays row, size_t i, size_t k) {
    return (cell){vload(g->v.t, row.x, i, k), vload(g->v.t, row.dy, i, k)};
}

NL_INLINE sums add_cell(sums s, cell v, column *col, size_t k, row_scale scale, backward_recipe q) {
    const vf xhat = vkeep(xhat_of(v.x, scale, q), k);
    col->dgamma = vfma(v.dy, xhat, col->dgamma);
    if (q.centred) col->dbeta += v.dy;
    return add_terms(s, xhat, v.dy, col->gain, q);
}

NL_INLINE void put_cell(const gradients *g, arrays row, size_t i, size_t k, cell v, vf gain,
                        dx_terms t, backward_recipe q) {
    const vf dx = dx_of(g->v.t, v.x, v.dy, gain, t, q);
    vstore(g->v.t, row.dx, i, k, with_dresidual(g, row, i, k, dx));
}

/* Computes row r, of `vectors` vectors (the last has k lanes), whose first cell is `first`. Loads
 * and returns the first cell of row `next` before it stores this row: in place, the load would wait
 * for the store of this row's last vector, whose unused lanes overlap the cell. */
NL_INLINE cell short_row(const gradients *g, columns *cols, size_t r, cell first, size_t next,
                         int vectors, size_t k, backward_recipe q) {
    const arrays row = arrays_of_row(g, r);
    const row_scale scale = scale_of(g, r, q);
    sums s = no_sums();
    cell b, c, d;
    s = add_cell(s, first, &cols->a, vectors == 1 ? k : VLEN, scale, q);
    if (vectors > 1) b = cell_at(g, row, VLEN, vectors == 2 ? k : VLEN);
    if (vectors > 1) s = add_cell(s, b, &cols->b, vectors == 2 ? k : VLEN, scale, q);
    if (vectors > 2) c = cell_at(g, row, 2 * VLEN, vectors == 3 ? k : VLEN);
    if (vectors > 2) s = add_cell(s, c, &cols->c, vectors == 3 ? k : VLEN, scale, q);
    if (vectors > 3) d = cell_at(g, row, 3 * VLEN, k);
    if (vectors > 3) s = add_cell(s, d, &cols->d, k, scale, q);
    const dx_terms t = terms_of(g, scale, q.centred ? vsum(s.v) : 0, vsum(s.vd));
    const cell a = first;
    first = cell_at(g, arrays_of_row(g, next), 0, vectors == 1 ? k : VLEN);
    put_cell(g, row, 0, vectors == 1 ? k : VLEN, a, cols->a.gain, t, q);
    if (vectors > 1) put_cell(g, row, VLEN, vectors == 2 ? k : VLEN, b, cols->b.gain, t, q);
    if (vectors > 2) put_cell(g, row, 2 * VLEN, vectors == 3 ? k : VLEN, c, cols->c.gain, t, q);
    if (vectors > 3) put_cell(g, row, 3 * VLEN, k, d, cols->d.gain, t, q);
    return first;
}

/* The columns stay in registers for a piece of rows. */
NL_INLINE void short_rows(const gradients *g, const gradients *outer, int vectors,
                          backward_recipe q) {
    const size_t n = g->v.n, k = g->v.c - (size_t)(vectors - 1) * VLEN;
    cell first = cell_at(g, arrays_of_row(g, 0), 0, vectors == 1 ? k : VLEN);
    for (size_t begin = 0; begin < n; begin += PIECE_ROWS) {
        const size_t end = n - begin < PIECE_ROWS ? n : begin + PIECE_ROWS;
        columns cols = {.a = begin_column(g, 0)};
        end_piece(outer, begin);
        if (vectors > 1) cols.b = begin_column(g, 1);
        if (vectors > 2) cols.c = begin_column(g, 2);
        if (vectors > 3) cols.d = begin_column(g, 3);
        for (size_t r = begin; r < end; r++)
            first = short_row(g, &cols, r, first, r + 1 < n ? r + 1 : r, vectors, k, q);
        store_column(g, 0, cols.a);
        if (vectors > 1) store_column(g, 1, cols.b);
        if (vectors > 2) store_column(g, 2, cols.c);
        if (vectors > 3) store_column(g, 3, cols.d);
    }
}

static const backward_recipe recipe = {.rows = 1};

NL_INLINE void all_rows(const gradients *g, const gradients *outer, backward_recipe q) {
    switch (vectors_of(g->v.c)) {
    case 1: short_rows(g, outer, 1, q); break;
    case 2: short_rows(g, outer, 2, q); break;
    case 3: short_rows(g, outer, 3, q); break;
    case 4: short_rows(g, outer, 4, q); break;
    }
}

#include "rows/backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a);
}

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN},       {NL_OF_C, 2 * VLEN},
                                          {NL_OF_C, 3 * VLEN},   {NL_OF_C, VECTORS *VLEN},
                                          {NL_OF_N, PIECE_ROWS}, {0}};

NL_IMPL(.about = "rows of up to four vectors, kept in registers", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .c_max = VECTORS * VLEN,
        .thresholds = thresholds, .strided = true, .method = NL_TWO_PASS, .lanes = VLEN,
        .backward = backward, .scratch = rows_backward_scratch);
