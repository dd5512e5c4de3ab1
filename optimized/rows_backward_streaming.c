/* idea   rows_backward_blocks, storing dx past the caches and asking for the next block's x and dy.
 * gain   An ordinary store first reads the line it will overwrite: a quarter of all traffic, saved.
 * fails  Where dx would have stayed in a cache. Rows that do not begin on a vector's boundary go
 *        the way of rows_backward_blocks.
 * SPDX-License-Identifier: MIT */
#include "rows_backward.h"

NL_DECLARE(optimized_rows_backward_blocks);

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    const size_t vector = VLEN * nl_dtype_bytes(p->dtype);
    if (p->c % VLEN || (uintptr_t)a->dx % vector)
        NL_OTHER(optimized_rows_backward_blocks)->backward(p, a, threads);
    else
        rows_backward(p, a, (recipe){.blocks = true, .streaming = true});
}

NL_IMPL(.about = "blocks, dx stored past the caches", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 7, .method = NL_TWO_PASS,
        .lanes = BLOCK_LANES, .backward = backward, .scratch = rows_backward_scratch);
