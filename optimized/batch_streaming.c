/* idea   batch_prefetch, storing y past the caches.
 * gain   Saves a quarter of the traffic: an ordinary store first reads the line that it overwrites.
 * fails  Loses if y would have stayed in a cache for its next reader.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1,
                  (batch_recipe){.statistics = CERTIFIED,
                                 .tiles = true,
                                 .prefetch_rows = 2,
                                 .streaming = true});
}

NL_IMPL(.about = "certified, y stored past the caches", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .range_safe = true, .streams = true, .method = NL_REFINED, .lanes = LANES,
        .forward = forward, .scratch = batch_scratch);
