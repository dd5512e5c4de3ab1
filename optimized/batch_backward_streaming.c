/* idea   batch_backward_prefetch, with dx stored past the caches.
 * gain   A line of dx need not be read before it is written: of six transfers one is saved.
 * fails  Where dx would have stayed in a cache, for us or for whoever reads it next.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static void step(void *part, size_t begin, size_t end) {
    do_step(part, begin, end,
            (batch_recipe){.backward = true, .tiles = true, .prefetch_rows = 2, .streaming = true});
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1, step);
}

NL_IMPL(.about = "gradients, dx stored past the caches", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 7, .method = NL_TWO_PASS,
        .lanes = LANES, .backward = backward, .scratch = batch_scratch);
