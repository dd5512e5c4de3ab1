/* idea   layernorm/refined.c in vectors: the second pass also sums d = x - m, whose mean is the
 *        rounding error of m.
 * gain   The top of the accuracy ladder; the latency of the second pass hides the addition.
 * fails  Reads x three times, as two-pass does.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = REFINED};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_forward(p, a, &recipe);
}

NL_IMPL(.about = "refined two-pass in vectors", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .strided = true, .method = NL_REFINED, .lanes = 4 * VLEN, .forward = forward);
