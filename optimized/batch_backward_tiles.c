/* idea   batch_backward_simd with tiles of 8 rows by 4 vectors, whose sums stay in registers until the
 *        tile is done; and four vectors of each loop in flight.
 * gain   The sums' loads and stores, seven times of eight, where x and dy are in the cache.
 * fails  Larger tensors are read row by row, as memory wants it, and gain little.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static void step(void *part, size_t begin, size_t end) {
    do_step(part, begin, end, (batch_recipe){.backward = true, .tiles = true});
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1, step);
}

NL_IMPL(.about = "the gradients in vectors, sums in registers", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 12, .method = NL_TWO_PASS,
        .lanes = LANES, .backward = backward, .scratch = batch_scratch);
