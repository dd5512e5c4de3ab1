/* Backward of the row norms, what stays from one row to the next: each column's gain, and its sums
 * for dgamma and dbeta. rows_backward.h goes along the rows. SPDX-License-Identifier: MIT */
#ifndef NL_ROW_GRADIENTS_H
#define NL_ROW_GRADIENTS_H

#include "vec.h"

/* What belongs to VLEN columns: the gain, and what this piece of rows has for dgamma and dbeta. */
typedef struct column {
    vf gain, dgamma, dbeta;
} column;

/* The pieces before, each a sum and what its rounding took. */
typedef struct older {
    vf dgamma, dgamma_rest, dbeta, dbeta_rest;
} older;

typedef struct gradient {
    size_t n, c;
    double per; /* 1 / c */
    const void *x, *dy, *dresidual;
    void *dx;
    const float *mean, *rstd;
    column *columns;
    older *olders;
} gradient;

/* sum += a; what its rounding takes goes to rest (Knuth's two-sum). */
NL_INLINE void add_exactly(vf *sum, vf *rest, vf a) {
    const vf all = *sum + a, part = all - *sum;
    *rest += (*sum - (all - part)) + (a - part);
    *sum = all;
}

/* A sum that left float's range has no rest. */
NL_INLINE vf with_rest(vf sum, vf rest) {
    if (vsum(sum - sum) == 0) sum += rest;
    return sum;
}

static inline size_t vectors_of(size_t c) {
    return (c + VLEN - 1) / VLEN;
}

/* The lanes of column vector j that are real. */
NL_INLINE size_t lanes_of(size_t c, size_t j) {
    return c - j * VLEN < VLEN ? c - j * VLEN : VLEN;
}

static void begin_columns(const gradient *g, const float *gamma, bool plus_one) {
    for (size_t j = 0; j < vectors_of(g->c); j++) {
        const size_t k = lanes_of(g->c, j);
        vf gain = gamma ? vload(NL_F32, gamma, j * VLEN, k) : vset(1);
        if (gamma && plus_one) gain += vset(1);
        g->columns[j] = (column){vkeep(gain, k), vset(0), vset(0)};
        if (g->olders) g->olders[j] = (older){vset(0), vset(0), vset(0), vset(0)};
    }
}

static void put_away(const gradient *g) {
    for (size_t j = 0; g->olders && j < vectors_of(g->c); j++) {
        column *col = g->columns + j;
        older *old = g->olders + j;
        add_exactly(&old->dgamma, &old->dgamma_rest, col->dgamma);
        add_exactly(&old->dbeta, &old->dbeta_rest, col->dbeta);
        col->dgamma = col->dbeta = vset(0);
    }
}

static void end_columns(const gradient *g, float *dgamma, float *dbeta) {
    put_away(g);
    for (size_t j = 0; j < vectors_of(g->c); j++) {
        const size_t k = lanes_of(g->c, j);
        column col = g->columns[j];
        if (g->olders) {
            const older old = g->olders[j];
            col.dgamma = with_rest(old.dgamma, old.dgamma_rest);
            col.dbeta = with_rest(old.dbeta, old.dbeta_rest);
        }
        if (dgamma) vstore(NL_F32, dgamma, j * VLEN, k, col.dgamma);
        if (dbeta) vstore(NL_F32, dbeta, j * VLEN, k, col.dbeta);
    }
}

#endif
