/* idea   batch_certified, prefetching x two rows ahead.
 * gain   A row longer than the sums that fit the first-level cache is read in pieces, and each
 *        piece begins elsewhere: the processor's own prefetcher comes late or not at all.
 * fails  Where a cache holds the tensor: there it prefetches nothing.
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
