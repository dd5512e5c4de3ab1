/* idea   batch_certified, prefetching x two rows ahead.
 * gain   The processor's own prefetcher comes late or not at all: where a row is longer than the sums
 *        that fit the first-level cache, it is read in pieces, and each piece begins somewhere else.
 * fails  In a cache: so tensors that one holds are not prefetched.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static void step(void *part, size_t begin, size_t end) {
    do_step(part, begin, end,
            (batch_recipe){.statistics = CERTIFIED, .tiles = true, .prefetch_rows = 2});
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1, step);
}

NL_IMPL(.about = "certified, x prefetched two rows ahead", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 14, .range_safe = true,
        .method = NL_REFINED, .lanes = LANES, .forward = forward, .scratch = batch_scratch);
