/* Backward of the row norms, one block of rows after another. The recipe sets the number of rows.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "backward_output.h"

NL_INLINE void put_block(const gradients *g, size_t r, shared_line *line, bool agree,
                         backward_recipe q) {
    kept_row kept;
    block b;
    sum_block(&b, g, r, &kept, agree, q);
    for (int a = 0; a < q.rows; a++) {
        const size_t row = b.at[a];
        dx_terms t = terms_of(g, b.scale[a], b.g[a], b.gx[a]);
        t.kept = &kept;
        if (q.streaming)
            put_row_in_lines(g, b.of, row, b.ahead, line, t, q);
        else
            put_row(g, b.of, row, b.ahead, t, q);
    }
}

NL_INLINE void all_rows(const gradients *g, const gradients *outer, backward_recipe q) {
    backward_recipe single = q;
    single.rows = 1;
    const size_t rows = (size_t)q.rows;
    const bool agree = strides_agree(outer);
    shared_line line = {.held = 0};
    size_t r = 0;
    for (; q.rows > 1 && agree && g->v.c <= PIECE && r + rows <= g->v.n; r += rows) {
        if (r % PIECE_ROWS == 0) end_piece(outer, r);
        put_block(g, r, &line, true, q);
    }
    for (; r < g->v.n; r++) {
        if (r % PIECE_ROWS == 0) end_piece(outer, r);
        put_block(g, r, &line, agree, single);
    }
    put_waiting(&line);
    if (q.streaming) vfence();
}
