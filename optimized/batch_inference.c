/* idea   batchnorm/inference.c in vectors: rstd * gamma is made once a channel, and an element costs a
 *        subtraction and one fused multiplication and addition.
 * gain   The speed of copying. To fold the mean in as well, y = x * a + b, would save nothing more and
 *        cost mean/sigma times the error.
 * fails  Nowhere but on single samples, where making rstd is most of the work.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static void step(void *part, size_t begin, size_t end) {
    do_step(part, begin, end, (batch_recipe){.inference = true, .tiles = true});
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1, step);
}

NL_IMPL(.about = "the running statistics in vectors", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_INFERENCE), .dtypes = NL_ALL_DTYPES, .rank = 10, .method = NL_REFINED,
        .lanes = 1, .forward = forward, .scratch = batch_scratch);
