/* idea   One row at a time in vectors, read twice: for its sums and its terms of dgamma and dbeta,
 *        then for dx.
 * gain   VLEN elements a step. The second reading stores only dx: stores that miss the first-level
 *        cache take twice the time if they alternate with stores that hit.
 * fails  dgamma and dbeta are loaded and stored for every row.
 * SPDX-License-Identifier: MIT */
#include "rows/backward_blocks.h"

static const backward_recipe recipe = {.rows = 1};

#include "rows/backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a);
}

NL_IMPL(.about = "a row at a time in vectors", .ops = ROW_NORMS, .passes = NL_BIT(NL_BACKWARD),
        .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds, .strided = true,
        .method = NL_TWO_PASS, .lanes = VLEN, .backward = backward,
        .scratch = rows_backward_scratch);
