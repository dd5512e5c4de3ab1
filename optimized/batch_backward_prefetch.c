/* idea   batch_backward_tiles, prefetching x and dy two rows ahead.
 * gain   A processor's own prefetcher does not follow four streams well.
 * fails  No gain if a cache holds x and dy; then the sums prefetch nothing.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1, (batch_recipe){.backward = true, .tiles = true, .prefetch_rows = 2});
}

NL_IMPL(.about = "gradients, x and dy prefetched two rows ahead", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .method = NL_TWO_PASS, .lanes = LANES, .backward = backward, .scratch = batch_scratch);
