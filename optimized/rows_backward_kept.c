/* idea   16-bit rows, converted once: the first reading keeps a row's xhat and gain * dy as floats,
 *        and the second reading computes dx from these floats.
 * gain   Saves two conversions and three operations per vector, and adds two stores to the
 *        first-level cache. With x and dy in 16 bits, arithmetic is the bottleneck.
 * fails  In f32 there is nothing to convert. For short rows, four rows at a time overlap more work.
 * SPDX-License-Identifier: MIT */
#include "rows/backward_blocks.h"

static const backward_recipe recipe = {.rows = 1, .kept = true};

#include "rows/backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a);
}

NL_IMPL(.about = "16-bit rows converted once, kept as floats", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .c_max = KEPT,
        .thresholds = row_thresholds, .strided = true, .method = NL_TWO_PASS, .lanes = VLEN,
        .backward = backward, .scratch = rows_backward_scratch);
