/* idea   batchnorm/backward in vectors: sums across VLEN adjacent channels or along a channel's
 *        runs, in memory order; dx is then ((x - mean) * a + b + dy) * gain, with the channel's a,
 *        b and gain.
 * gain   Many times the speed: the plain rung strides from row to row and adds single values.
 * fails  The sums live in memory: each vector of x and dy loads and stores two vectors of sums.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    batch_backward(p, a, 1, (batch_recipe){.backward = true});
}

NL_IMPL(.about = "the gradients in vectors", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .method = NL_TWO_PASS, .lanes = LANES, .backward = backward, .scratch = batch_scratch);
