/* idea   batch_backward_prefetch, with dx stored past the caches.
 * gain   No line of dx is read before it is written, which saves one transfer of six.
 * fails  Loses if dx would have stayed in a cache for its next reader.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1,
                   (batch_recipe){.backward = true,
                                  .tiles = true,
                                  .prefetch_rows = 2,
                                  .streaming = true});
}

NL_IMPL(.about = "gradients, dx stored past the caches", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .streams = true, .method = NL_TWO_PASS, .lanes = LANES, .backward = backward,
        .scratch = batch_scratch);
