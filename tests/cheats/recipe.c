/* Calls the engine of optimized/ with a recipe of its own.
 * SPDX-License-Identifier: MIT */
// expect: hint output.h, which has a kernel already
#include "../optimized/./rows/output.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_forward(p, a, (row_recipe){.statistics = TWO_PASS});
}

NL_IMPL(.about = "a cheat", .ops = ROW_NORMS, .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES,
        .thresholds = row_thresholds, .rank = 0, .method = NL_TWO_PASS, .lanes = VLEN,
        .forward = forward);
