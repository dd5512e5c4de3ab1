/* idea   rows_backward_kept, prefetching the next row's x and dy, and this row's dx.
 * gain   Stores to lines of dx that are in no near cache would delay the stores of dgamma, dbeta
 *        and the kept floats (see rows_kept_prefetch).
 * fails  No gain if the tensors are in a core's own cache.
 * SPDX-License-Identifier: MIT */
#include "rows/backward_blocks.h"

static const backward_recipe recipe = {.rows = 1, .kept = true, .prefetch = true};

#include "rows/backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a);
}

NL_IMPL(.about = "16-bit rows kept as floats, x, dy and dx prefetched", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .c_max = KEPT,
        .thresholds = row_thresholds, .strided = true, .method = NL_TWO_PASS, .lanes = VLEN,
        .backward = backward, .scratch = rows_backward_scratch);
