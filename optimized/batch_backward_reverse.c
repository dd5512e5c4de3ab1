/* idea   batch_backward_prefetch, writing dx from the last element to the first.
 * gain   dx begins where the sums ended, at elements of x and dy that are still in a cache.
 * fails  No gain if the cache holds all of x and dy, or almost nothing of them.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1,
                   (batch_recipe){.backward = true,
                                  .tiles = true,
                                  .prefetch_rows = 2,
                                  .reverse = true});
}

NL_IMPL(.about = "dx begins where the sums ended", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .method = NL_TWO_PASS, .lanes = LANES, .backward = backward, .scratch = batch_scratch);
