/* idea   batch_inference on several threads: each thread takes some channels, or some of the
 *        samples. y is streamed if a thread's share of y is large.
 * gain   Scales with the number of cores that have caches or memory of their own.
 * fails  Waking threads takes microseconds: small problems get one thread.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    const batch_recipe q = {.inference = true, .tiles = true};
    const batch_recipe streaming = {.inference = true, .tiles = true, .streaming = true};
    batch_forward(p, a, threads, a->plan->streams ? streaming : q);
}

NL_IMPL(.about = "the running statistics, on several threads", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_INFERENCE), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .threaded = true, .heeds_stores = true, .method = NL_REFINED, .lanes = 1,
        .forward = forward, .scratch = batch_scratch);
