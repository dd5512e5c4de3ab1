/* Backward of LayerNorm, RMSNorm and Qwen2RMSNorm in vector words. A rung calls rows_backward()
 * with its recipe (row_backward_sums.h), which is inlined for each layer and storage type with
 * these as constants. SPDX-License-Identifier: MIT */
#ifndef NL_ROWS_BACKWARD_H
#define NL_ROWS_BACKWARD_H

#include "row_backward_output.h"

enum { ROW_NORMS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };

/* What decides in which order is added: vectors, blocks of sums, pieces of rows and of columns. */
static const nl_threshold row_thresholds[] = {{NL_OF_C, VLEN},
                                              {NL_OF_C, STEP},
                                              {NL_OF_C, SUM_BLOCK},
                                              {NL_OF_C, PIECE},
                                              {NL_OF_N, SUMS},
                                              {NL_OF_N, PIECE_ROWS},
                                              {0}};

/* A rung's loop over all rows, with storage type and layer as constants. g is a copy whose address
 * does not escape, so its fields stay in registers; outlined code gets `outer`, the original. */
typedef void all_rows_function(const gradients *g, const gradients *outer, backward_recipe q);

NL_INLINE void all_rows(const gradients *g, const gradients *outer, backward_recipe q) {
    backward_recipe single = q;
    single.rows = 1;
    const size_t rows = (size_t)q.rows;
    shared_line line = {.held = 0};
    size_t r = 0;
    for (; q.rows > 1 && g->v.c <= PIECE && r + rows <= g->v.n; r += rows) {
        if (r % PIECE_ROWS == 0) end_piece(outer, r);
        put_block(g, r, &line, q);
    }
    for (; r < g->v.n; r++) {
        if (r % PIECE_ROWS == 0) end_piece(outer, r);
        put_block(g, r, &line, single);
    }
    put_waiting(&line);
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
    gradients g = {.v = nl_backward_view_of(p, a), .per_c = 1 / (double)p->c};
    begin_columns(&g, a->scratch, p->n > PIECE_ROWS);
    const backward_call call = {&g, rows, q};
    nl_with_dtype(p->dtype, backward_of_type, &call);
    end_columns(&g);
}

/* The body of a rung's backward(). */
NL_INLINE void rows_backward(const nl_problem *p, const nl_backward_args *a, backward_recipe q) {
    rows_backward_by(p, a, all_rows, q);
}

static size_t rows_backward_scratch(const nl_problem *p) {
    return vectors_of(p->c) * (3 * sizeof(vf) + (p->n > PIECE_ROWS ? sizeof(compensated) : 0));
}

#endif
