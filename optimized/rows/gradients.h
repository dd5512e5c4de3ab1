/* Backward of the row norms, the state that all rows share: each column's gain and its sums for
 * dgamma and dbeta. The loops along rows are in backward_sums.h and backward_output.h.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "vec/vec.h"

#include <string.h>

/* The sums of a vector of columns over all earlier pieces of rows, and their rounding errors. */
typedef struct compensated {
    vf dgamma, dgamma_error, dbeta, dbeta_error;
} compensated;

/* The columns' arrays, in whole vectors: the caller's arrays if they are whole vectors and aligned,
 * otherwise copies in scratch. Past the last column the gain is 0. */
typedef struct gradients {
    nl_backward_view v;
    double per_c; /* 1 / c */
    const float *gain;
    float *dgamma, *dbeta; /* sums over the current piece of rows; its first block sets them */
    compensated *pieces;   /* NULL: there is one piece */
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

/* Adds the errors, except the meaningless error of a sum that left float's range. */
NL_INLINE vf corrected(vf sum, vf error) {
    if (vsum(sum - sum) == 0) sum += error;
    return sum;
}

NL_INLINE bool whole_vectors(const float *p, size_t c) {
    return p && c % VLEN == 0 && (uintptr_t)p % sizeof(vf) == 0;
}

/* Lays out scratch: gain, dgamma, dbeta, pieces. */
NL_INLINE void begin_columns(gradients *g, float *scratch, bool in_pieces) {
    const size_t c = g->v.c, vectors = vectors_of(c), padded = vectors * VLEN;
    float *gain = scratch;
    g->dgamma = scratch + padded, g->dbeta = scratch + 2 * padded;
    g->pieces = in_pieces ? (compensated *)(scratch + 3 * padded) : NULL;
    if (!in_pieces && whole_vectors(g->v.dgamma, c)) g->dgamma = g->v.dgamma;
    if (!in_pieces && whole_vectors(g->v.dbeta, c)) g->dbeta = g->v.dbeta;
    g->gain = gain;
    if (!g->v.plus_one && whole_vectors(g->v.gamma, c)) g->gain = g->v.gamma;
    for (size_t j = 0; g->gain == gain && j < vectors; j++) {
        const size_t k = lanes_of(c, j);
        vstore(NL_F32, gain, j * VLEN, VLEN,
               vkeep(vgain(g->v.gamma, g->v.plus_one, j * VLEN, k), k));
    }
    if (in_pieces) memset((void *)g->pieces, 0, vectors * sizeof *g->pieces);
}

/* Adds the sums of a piece of rows, which ends after `done` rows, to the sums of earlier pieces. */
static void end_piece(const gradients *g, size_t done) {
    for (size_t j = 0; done && g->pieces && j < vectors_of(g->v.c); j++) {
        compensated *all = g->pieces + j;
        const size_t i = j * VLEN;
        add_exactly(&all->dgamma, &all->dgamma_error, vload(NL_F32, g->dgamma, i, VLEN));
        if (g->v.centred)
            add_exactly(&all->dbeta, &all->dbeta_error, vload(NL_F32, g->dbeta, i, VLEN));
    }
}

NL_INLINE void end_columns(const gradients *g) {
    end_piece(g, g->v.n);
    for (size_t j = 0; j < vectors_of(g->v.c); j++) {
        const size_t i = j * VLEN, k = lanes_of(g->v.c, j);
        const compensated *all = g->pieces ? g->pieces + j : NULL;
        if (g->v.dgamma && g->v.dgamma != g->dgamma)
            vstore(NL_F32, g->v.dgamma, i, k,
                   all ? corrected(all->dgamma, all->dgamma_error)
                       : vload(NL_F32, g->dgamma, i, VLEN));
        if (g->v.dbeta && g->v.dbeta != g->dbeta)
            vstore(NL_F32, g->v.dbeta, i, k,
                   all ? corrected(all->dbeta, all->dbeta_error)
                       : vload(NL_F32, g->dbeta, i, VLEN));
    }
}
