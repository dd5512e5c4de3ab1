/* idea   Four rows at a time: what belongs to a column is loaded once for all four.
 * gain   Of three loads and two stores a vector for the columns a quarter is left; and eight sums
 *        along rows are under way at once.
 * fails  Four rows of x and dy have to stay in a cache from their sums to their dx.
 * SPDX-License-Identifier: MIT */
#include "rows_backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a, (backward_recipe){.blocks = true});
}

NL_IMPL(.about = "four rows at a time, each column loaded once", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 11, .method = NL_TWO_PASS,
        .lanes = BLOCK_LANES, .backward = backward, .scratch = rows_backward_scratch);
