/* idea   batch_reverse on several threads: each thread takes some channels, or some pieces of the
 *        samples (by_channels() in run.c); then all threads wait for the sums. y is streamed if a
 *        thread's share of y is large.
 * gain   Scales with the number of cores that have caches or memory of their own.
 * fails  Waking threads takes microseconds: small problems get one thread.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    const batch_recipe q = {.statistics = CERTIFIED,
                            .tiles = true,
                            .prefetch_rows = 2,
                            .reverse = true};
    const batch_recipe streaming = {.statistics = CERTIFIED,
                                    .tiles = true,
                                    .prefetch_rows = 2,
                                    .streaming = true};
    batch_forward(p, a, threads, a->plan->streams ? streaming : q);
}

NL_IMPL(.about = "certified, on several threads", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .range_safe = true, .threaded = true, .heeds_stores = true, .method = NL_REFINED,
        .lanes = LANES, .forward = forward, .scratch = batch_scratch);
