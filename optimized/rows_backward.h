/* Backward of LayerNorm, RMSNorm and Qwen2RMSNorm in vector words. A rung calls rows_backward()
 * with its recipe (row_backward_sums.h), which is inlined for each layer and storage type with
 * these as constants. SPDX-License-Identifier: MIT */
#ifndef NL_ROWS_BACKWARD_H
#define NL_ROWS_BACKWARD_H

#include "row_backward_output.h"

enum { ROW_NORMS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };

/* Blocks of four rows, and pieces of as many rows or blocks as a sum has lanes. */
static const nl_threshold row_thresholds[] = {{NL_OF_C, VLEN},      {NL_OF_C, STEP},
                                              {NL_OF_C, SUM_BLOCK}, {NL_OF_C, PIECE},
                                              {NL_OF_N, BLOCK},     {NL_OF_N, BLOCK_LANES},
                                              {NL_OF_N, ROW_LANES}, {0}};

/* Rows from r on, one after the other. */
NL_INLINE void put_rows(const gradients *g, const gradients *outer, size_t r, backward_recipe q) {
    const size_t lanes = q.blocks ? BLOCK_LANES : ROW_LANES;
    backward_recipe last = q;
    last.pipelined = false;
    totals t;
    for (bool known = false; r < g->v.n; r++) {
        if (!known) t = sum_row(g, r, q);
        const dx_terms terms = terms_of(g, r, t, q);
        known = q.pipelined && r + 1 < g->v.n && g->v.c <= PIECE;
        if (known)
            t = put_row(g, r, terms, q);
        else
            put_row(g, r, terms, last);
        if ((r + 1) % lanes == 0) end_piece(outer);
    }
}

/* A rung's loop over all rows, with storage type and layer as constants. g is a copy whose address
 * does not escape, so its fields stay in registers; outlined code gets `outer`, the original. */
typedef void all_rows_function(const gradients *g, const gradients *outer, backward_recipe q);

NL_INLINE void all_rows(const gradients *g, const gradients *outer, backward_recipe q) {
    size_t r = 0;
    for (; q.blocks && g->v.c <= PIECE && r + BLOCK <= g->v.n; r += BLOCK) {
        put_block(g, r, q);
        if ((r / BLOCK + 1) % BLOCK_LANES == 0) end_piece(outer);
    }
    put_rows(g, outer, r, q);
    if (q.streaming) vfence();
}

typedef struct backward_call {
    const gradients *g;
    all_rows_function *rows;
    backward_recipe q;
} backward_call;

NL_INLINE void backward_of_type(nl_dtype t, const void *context) {
    const backward_call call = *(const backward_call *)context;
    gradients g = *call.g;
    backward_recipe q = call.q;
    g.v.t = t, q.centred = true;
    if (g.v.centred) {
        call.rows(&g, call.g, q);
        return;
    }
    q.centred = false;
    call.rows(&g, call.g, q);
}

NL_INLINE void rows_backward_by(const nl_problem *p, const nl_backward_args *a,
                                all_rows_function *rows, backward_recipe q) {
    const size_t n = p->n, c = p->c, vector = VLEN * nl_dtype_size(p->dtype);
    gradients g = {.v = nl_backward_view_of(p, a), .per_c = 1 / (double)c, .columns = a->scratch};
    g.aligned = c % VLEN == 0 && (uintptr_t)a->dx % vector == 0;
    if (n > (c > PIECE ? BLOCK_LANES : ROW_LANES))
        g.pieces = (compensated *)(g.columns + vectors_of(c));
    begin_columns(&g);
    const backward_call call = {&g, rows, q};
    nl_with_dtype(p->dtype, backward_of_type, &call);
    end_columns(&g);
}

/* The body of a rung's backward(). */
NL_INLINE void rows_backward(const nl_problem *p, const nl_backward_args *a, backward_recipe q) {
    rows_backward_by(p, a, all_rows, q);
}

static size_t rows_backward_scratch(const nl_problem *p) {
    return vectors_of(p->c) * (sizeof(column) + (p->n > BLOCK_LANES ? sizeof(compensated) : 0));
}

#endif
