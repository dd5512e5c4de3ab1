/* idea   A row at a time in vectors: the sums along it, then dx, dgamma and dbeta in one run over
 *        its columns.
 * gain   VLEN elements a step, and dgamma's error does not grow with the number of rows.
 * fails  gain, dgamma and dbeta are loaded for every vector of x, and two of them stored: more
 *        traffic than x, dy and dx.
 * SPDX-License-Identifier: MIT */
#include "rows_backward.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    rows_backward(p, a, (backward_recipe){.blocks = false});
}

NL_IMPL(.about = "a row at a time in vectors", .ops = ROW_NORMS, .passes = NL_BIT(NL_BACKWARD),
        .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds, .rank = 10, .method = NL_TWO_PASS,
        .lanes = ROW_LANES, .backward = backward, .scratch = rows_backward_scratch);
