/* idea   The loop that makes a row's dx also sums the next row: one run over the columns a row.
 * gain   Loads for the sums overlap stores of dx, and no row waits for its sums. Two rows at a time
 *        are in the first-level cache, not four.
 * fails  A single row has no next one; and gain and sums of a column are loaded for each row again.
 * SPDX-License-Identifier: MIT */
#include "rows_backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a, (backward_recipe){.pipelined = true});
}

NL_IMPL(.about = "the next row's sums while this row's dx is made", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .rank = 12, .method = NL_TWO_PASS, .lanes = ROW_LANES, .backward = backward,
        .scratch = rows_backward_scratch);
