/* idea   batch_backward_prefetch, with dx from the last element to the first.
 * gain   What the sums have read last is still in a cache when dx reads it first.
 * fails  Where all of x and dy stays in the cache anyway, or next to nothing of it does.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static void step(void *part, size_t begin, size_t end) {
    do_step(part, begin, end,
            (batch_recipe){.backward = true, .tiles = true, .prefetch_rows = 2, .reverse = true});
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1, step);
}

NL_IMPL(.about = "dx begins where the sums ended", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 9, .method = NL_TWO_PASS,
        .lanes = LANES, .backward = backward, .scratch = batch_scratch);
