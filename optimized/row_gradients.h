/* Backward of the row norms, the state that all rows share: each column's gain and its sums for
 * dgamma and dbeta. row_backward_sums.h and row_backward_output.h go along the rows.
 * SPDX-License-Identifier: MIT */
#ifndef NL_ROW_GRADIENTS_H
#define NL_ROW_GRADIENTS_H

#include "vec.h"

/* VLEN columns: the gain, and the sums for dgamma and dbeta over the current piece of rows. */
typedef struct column {
    vf gain, dgamma, dbeta;
} column;

/* The sums over all earlier pieces, each with its rounding error. */
typedef struct compensated {
    vf dgamma, dgamma_error, dbeta, dbeta_error;
} compensated;

typedef struct gradients {
    nl_backward_view v;
    double per_c; /* 1 / c */
    bool aligned; /* every row of dx begins on a vector boundary, so that it can be streamed */
    column *columns;
    compensated *pieces; /* NULL: there is one piece */
} gradients;

static inline size_t vectors_of(size_t c) {
    return (c + VLEN - 1) / VLEN;
}

/* sum += a, exactly: the rounding error is added to *error (Knuth's two-sum). */
NL_INLINE void add_exactly(vf *sum, vf *error, vf a) {
    const vf all = *sum + a, part = all - *sum;
    *error += (*sum - (all - part)) + (a - part);
    *sum = all;
}

/* A sum that left float's range has no meaningful error. */
NL_INLINE vf corrected(vf sum, vf error) {
    if (vsum(sum - sum) == 0) sum += error;
    return sum;
}

NL_INLINE void begin_columns(const gradients *g) {
    for (size_t j = 0; j < vectors_of(g->v.c); j++) {
        const size_t k = lanes_of(g->v.c, j);
        const vf gain = vgain(g->v.gamma, g->v.plus_one, j * VLEN, k);
        g->columns[j] = (column){vkeep(gain, k), vset(0), vset(0)};
        if (g->pieces) g->pieces[j] = (compensated){vset(0), vset(0), vset(0), vset(0)};
    }
}

/* Ends a piece of rows: adds its sums to those of the pieces before. */
static void end_piece(const gradients *g) {
    for (size_t j = 0; g->pieces && j < vectors_of(g->v.c); j++) {
        column *col = g->columns + j;
        compensated *all = g->pieces + j;
        add_exactly(&all->dgamma, &all->dgamma_error, col->dgamma);
        add_exactly(&all->dbeta, &all->dbeta_error, col->dbeta);
        col->dgamma = col->dbeta = vset(0);
    }
}

NL_INLINE void end_columns(const gradients *g) {
    end_piece(g);
    for (size_t j = 0; j < vectors_of(g->v.c); j++) {
        const size_t k = lanes_of(g->v.c, j);
        column col = g->columns[j];
        if (g->pieces) {
            const compensated all = g->pieces[j];
            col.dgamma = corrected(all.dgamma, all.dgamma_error);
            col.dbeta = corrected(all.dbeta, all.dbeta_error);
        }
        if (g->v.dgamma) vstore(NL_F32, g->v.dgamma, j * VLEN, k, col.dgamma);
        if (g->v.dbeta) vstore(NL_F32, g->v.dbeta, j * VLEN, k, col.dbeta);
    }
}

#endif
