/* idea   batch_backward_simd with tiles of 8 rows by 4 vectors, whose sums stay in registers until
 *        the tile is done. Each loop has four vectors in flight.
 * gain   Saves seven of eight loads and stores of the sums, if the cache holds x and dy.
 * fails  Little gain for larger tensors, which are read row by row, in memory order.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1, (batch_recipe){.backward = true, .tiles = true});
}

NL_IMPL(.about = "the gradients in vectors, sums in registers", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .method = NL_TWO_PASS, .lanes = LANES, .backward = backward, .scratch = batch_scratch);
