/* idea   batchnorm/inference.c in vectors: computes rstd * gamma once per channel, so that an
 *        element costs a subtraction and an FMA. Short rows are written as one long row.
 * gain   As fast as copying. Folding in the mean, too (y = x * a + b), would save no time and
 *        multiply the error by mean/sigma.
 * fails  For a single sample, computing rstd is most of the work.
 * SPDX-License-Identifier: MIT */
#include "batch/batch.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1, (batch_recipe){.inference = true, .tiles = true});
}

NL_IMPL(.about = "the running statistics in vectors", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_INFERENCE), .dtypes = NL_VEC_DTYPES, .thresholds = batch_thresholds,
        .method = NL_REFINED, .lanes = 1, .forward = forward, .scratch = batch_scratch);
