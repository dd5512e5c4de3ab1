/* idea   rows_certified, storing y past the caches, in whole lines (rows/streaming.c); meanwhile the next
 *        row is prefetched, or, where rows are wide, four are read and then written together.
 * gain   An ordinary store first reads the line it will overwrite: a third of all traffic, saved.
 *        Memory is never idle, yet only one row, gamma and beta share the first-level cache.
 * fails  Where y would have stayed in a cache, for us or for whoever reads it next: twice the time.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = CERTIFIED, .streaming = true};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_forward(p, a, &recipe);
}

NL_IMPL(.about = "y stored past the caches, the next row prefetched", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .range_safe = true, .streams = true, .strided = true, .method = NL_REFINED,
        .lanes = 4 * VLEN, .forward = forward);
