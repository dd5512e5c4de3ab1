/* idea   batch_certified, prefetching x two rows ahead.
 * gain   Rows whose sums do not fit the first-level cache are read in parts. Each part begins at a
 *        new address; there the processor's own prefetcher is late or absent.
 * fails  No gain if a cache holds the tensor; then the sums prefetch nothing.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1,
                  (batch_recipe){.statistics = CERTIFIED, .tiles = true, .prefetch_rows = 2});
}

NL_IMPL(.about = "certified, x prefetched two rows ahead", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .range_safe = true, .method = NL_REFINED, .lanes = LANES, .forward = forward,
        .scratch = batch_scratch);
