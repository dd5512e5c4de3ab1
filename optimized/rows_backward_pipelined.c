/* idea   While a row's dx is made, the sums of the next row: one run over the columns a row.
 * gain   Loads for the sums and stores of dx no longer take turns at being idle, and no row
 *        waits for its sums. Two rows at a time are in the first-level cache, not four.
 * fails  For a single row; and what belongs to a column is loaded for each row again.
 * SPDX-License-Identifier: MIT */
#include "rows_backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a, (backward_recipe){.pipelined = true});
}

NL_IMPL(.about = "the next row's sums while this row's dx is made", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 12, .method = NL_TWO_PASS,
        .lanes = ROW_LANES, .backward = backward, .scratch = rows_backward_scratch);
