/* idea   batchnorm/two_pass.c in vectors: across channels if they are adjacent, otherwise along
 *        each channel.
 * gain   Processes VLEN channels, or VLEN values of one channel, at a time.
 * fails  Across channels, each vector of x also loads and stores two vectors of sums.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1, (batch_recipe){.statistics = TWO_PASS});
}

NL_IMPL(.about = "two-pass in vectors", .ops = NL_BIT(NL_BATCHNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds, .method = NL_TWO_PASS,
        .lanes = LANES, .forward = forward, .scratch = batch_scratch);
