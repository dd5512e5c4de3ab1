/* idea   rows_kept, storing y past the caches.
 * gain   The gain of rows_streaming. One loop reads and writes, so memory is never idle. A 16-bit
 *        row leaves room in the first-level cache for the kept floats.
 * fails  Takes twice the time if y would have stayed in a cache for its next reader. Rows that
 *        share cache lines run the loop of rows_streaming.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = CERTIFIED, .streaming = true};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_kept_forward(p, a, &recipe);
}

NL_IMPL(.about = "16-bit rows kept as floats, y stored past the caches", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .c_max = KEPT,
        .thresholds = kept_thresholds, .range_safe = true, .streams = true, .strided = true,
        .method = NL_REFINED, .lanes = 4 * VLEN, .forward = forward);
