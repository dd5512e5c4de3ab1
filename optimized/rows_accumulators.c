/* idea   rows_simd with four accumulators, so that four additions are in flight.
 * gain   The sums run at the speed of the loads if the row is in the first-level cache.
 * fails  No gain for rows from memory: their bottleneck was never the adder.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = TWO_PASS};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_forward(p, a, &recipe);
}

NL_IMPL(.about = "two-pass in vectors, four accumulators", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .strided = true, .method = NL_TWO_PASS, .lanes = 4 * VLEN, .forward = forward);
