/* idea   batch_simd with tiles of 8 rows by 4 vectors, whose sums stay in registers until the tile
 *        is done. Each loop has four vectors in flight.
 * gain   Saves seven of eight loads and stores of the sums, if the cache holds x.
 * fails  Larger tensors are read row by row: eight rows at a time are eight streams from memory,
 *        and prefetchers follow one stream better.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1, (batch_recipe){.statistics = TWO_PASS, .tiles = true});
}

NL_IMPL(.about = "two-pass in vectors, sums in registers", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .method = NL_TWO_PASS, .lanes = LANES, .forward = forward, .scratch = batch_scratch);
