/* idea   rows_certified, summing the next row in the loop that writes this row.
 * gain   Loads, stores and arithmetic overlap: memory is never idle, and the next row does not wait
 *        for this row's square root.
 * fails  A single row has no next row, and rows longer than 16384 are not pipelined. rows_certified
 *        is faster if two rows of x, one of y, gamma and beta fill the first-level cache, or if
 *        some of x comes from memory.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = CERTIFIED, .pipelined = true};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_forward(p, a, &recipe);
}

NL_IMPL(.about = "sums the next row in the loop that writes this row", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .range_safe = true, .strided = true, .method = NL_REFINED, .lanes = 4 * VLEN,
        .forward = forward);
