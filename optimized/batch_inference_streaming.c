/* idea   batch_inference, storing y past the caches.
 * gain   Saves a third of the traffic: an ordinary store first reads the line that it overwrites.
 * fails  Loses if y would have stayed in a cache for its next reader.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1, (batch_recipe){.inference = true, .tiles = true, .streaming = true});
}

NL_IMPL(.about = "the running statistics, y past the caches", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_INFERENCE), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .streams = true, .method = NL_REFINED, .lanes = 1, .forward = forward,
        .scratch = batch_scratch);
