/* Backward of the row norms: a block of rows after the other, as its recipe says.
 * SPDX-License-Identifier: MIT */
#ifndef NL_BACKWARD_BLOCKS_H
#define NL_BACKWARD_BLOCKS_H

#include "backward_output.h"

/* A block's rows, from r on. */
NL_INLINE void put_block(const gradients *g, size_t r, shared_line *line, backward_recipe q) {
    kept_row kept;
    const block b = sum_block(g, r, &kept, q);
    for (int a = 0; a < q.rows; a++) {
        const nl_backward_view row = b.row[a];
        dx_terms t = terms_of(g, b.scale[a], b.g[a], b.gx[a]);
        t.kept = &kept;
        if (q.streaming)
            put_row_in_lines(g, row, line, t, q);
        else
            put_row(g, row, t, q);
    }
}

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

#endif
