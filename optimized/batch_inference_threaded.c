/* idea   batch_inference on several threads: each takes some channels, or some of the samples.
 *        y is streamed where batch_inference_streaming would be taken.
 * gain   Scales with the cores that have caches or memory of their own.
 * fails  Waking threads takes microseconds: small problems get one thread.
 * SPDX-License-Identifier: MIT */
#include "batch.h"
#include "best.h"

static void step(void *context, size_t begin, size_t end) {
    do_step(context, begin, end, (batch_recipe){.inference = true, .tiles = true});
}

static void step_streaming(void *context, size_t begin, size_t end) {
    do_step(context, begin, end,
            (batch_recipe){.inference = true, .tiles = true, .streaming = true});
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    batch_forward(p, a, threads, nl_streams_each(p, threads) ? step_streaming : step);
}

NL_IMPL(.about = "the running statistics, on several threads", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_INFERENCE), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .rank = 6, .threaded = true, .method = NL_REFINED, .lanes = 1, .forward = forward,
        .scratch = batch_scratch);
