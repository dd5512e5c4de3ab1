/* idea   rows_kept, with x prefetched 1 KiB ahead, and the lines of y two rows before they are
 *        written.
 * gain   If y is in no near cache, stores to y wait for their lines. Stores complete in order, so
 *        the stores of kept floats wait, too. A prefetch does not wait.
 * fails  If a core's own cache holds x and y, two instructions per line are wasted.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = CERTIFIED, .prefetch_bytes = 1024};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_kept_forward(p, a, &recipe);
}

NL_IMPL(.about = "16-bit rows kept as floats, x and the lines of y prefetched", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .c_max = KEPT,
        .thresholds = kept_thresholds, .range_safe = true, .strided = true, .method = NL_REFINED,
        .lanes = 4 * VLEN, .forward = forward);
