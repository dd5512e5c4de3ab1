/* idea   rows_shifted, certified by its own sums: c^2 <= var, with c = mean(x - K), proves that K
 *        was near enough to the mean. Otherwise the row gets a refined second reading; after
 *        overflow or underflow the row is computed in double. RMSNorm only tests the range.
 * gain   One reading, with the accuracy of refined on any data and the range of rmsnorm/scaled.
 * fails  Reads x three times, as refined does, if every row begins with an outlier.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = CERTIFIED};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_forward(p, a, &recipe);
}

NL_IMPL(.about = "one reading with a certificate: its sums tell when a second is needed",
        .ops = ROW_NORMS, .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES,
        .thresholds = row_thresholds, .range_safe = true, .strided = true, .method = NL_REFINED,
        .lanes = 4 * VLEN, .forward = forward);
