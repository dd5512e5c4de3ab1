/* idea   Four rows at a time: the gain and sums of a column are loaded once for all four.
 * gain   A quarter of the columns' loads and stores (three and two a vector) is left, and eight
 *        sums along rows are in flight.
 * fails  Four rows of x and dy have to stay in a cache from their sums to their dx.
 * SPDX-License-Identifier: MIT */
#include "rows_backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a, (backward_recipe){.blocks = true});
}

NL_IMPL(.about = "four rows at a time, each column loaded once", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .rank = 11, .method = NL_TWO_PASS, .lanes = BLOCK_LANES, .backward = backward,
        .scratch = rows_backward_scratch);
