/* idea   Four rows at a time in the first reading: gain, dgamma and dbeta of a column are loaded
 *        and stored once for all four rows.
 * gain   Reads and writes the columns a quarter as often. The gain is largest if four rows fit the
 *        first-level cache, or if not even one row fits.
 * fails  Four rows of x and dy are often evicted from this cache before the second reading.
 * SPDX-License-Identifier: MIT */
#include "rows/backward_blocks.h"

static const backward_recipe recipe = {.rows = 4};

#include "rows/backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a);
}

NL_IMPL(.about = "four rows at a time, each column loaded once", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .strided = true, .method = NL_TWO_PASS, .lanes = VLEN, .backward = backward,
        .scratch = rows_backward_scratch);
