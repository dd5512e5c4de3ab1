/* idea   batch_backward_reverse on several threads, without prefetching. Each thread takes some
 *        channels, or some pieces of the samples (by_channels() in run.c). The pieces' sums are
 *        added in a fixed order, so the bits are the same with any number of threads. dx is
 *        streamed if a thread's share of dx is large.
 * gain   Scales with the number of cores that have caches or memory of their own.
 * fails  Waking threads takes microseconds: small problems get one thread.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    const batch_recipe q = {.backward = true, .tiles = true, .reverse = true};
    const batch_recipe streaming = {.backward = true,
                                    .tiles = true,
                                    .prefetch_rows = 2,
                                    .streaming = true};
    batch_backward(p, a, threads, a->plan->streams ? streaming : q);
}

NL_IMPL(.about = "gradients on several threads", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .threaded = true, .heeds_stores = true, .method = NL_TWO_PASS, .lanes = LANES,
        .backward = backward, .scratch = batch_scratch);
