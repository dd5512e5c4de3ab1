/* idea   batch_prefetch, writing y from the last element to the first.
 * gain   y begins where the statistics ended, at elements of x that are still in a cache.
 * fails  No gain if the cache holds all of x, or almost nothing of it.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1,
                  (batch_recipe){.statistics = CERTIFIED,
                                 .tiles = true,
                                 .prefetch_rows = 2,
                                 .reverse = true});
}

NL_IMPL(.about = "the output begins where the statistics ended", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .range_safe = true, .method = NL_REFINED, .lanes = LANES, .forward = forward,
        .scratch = batch_scratch);
