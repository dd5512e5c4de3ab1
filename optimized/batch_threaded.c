/* idea   batch_reverse on several threads: each takes some channels; or, where channels are few,
 *        some pieces of the samples, and then all wait for all sums.
 *        y is streamed where batch_streaming would be taken.
 * gain   Scales with the cores that have caches or memory of their own.
 * fails  Waking threads takes microseconds: small problems get one thread.
 * SPDX-License-Identifier: MIT */
#include "batch.h"
#include "best.h"

static void step(void *context, size_t begin, size_t end) {
    do_step(context, begin, end,
            (batch_recipe){.statistics = CERTIFIED,
                           .tiles = true,
                           .prefetch_rows = 2,
                           .reverse = true});
}

static void step_streaming(void *context, size_t begin, size_t end) {
    do_step(context, begin, end,
            (batch_recipe){.statistics = CERTIFIED,
                           .tiles = true,
                           .prefetch_rows = 2,
                           .streaming = true});
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    batch_forward(p, a, threads, nl_streams_each(p, threads) ? step_streaming : step);
}

NL_IMPL(.about = "certified, on several threads", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .rank = 8, .range_safe = true, .threaded = true, .method = NL_REFINED, .lanes = LANES,
        .forward = forward, .scratch = batch_scratch);
