/* idea   16-bit rows, converted once: the loop that sums a row keeps the row's x - K as floats; two
 *        rows later, the loop that writes the row reads these floats.
 * gain   Saves a conversion and LayerNorm's subtraction, stores vectors in pairs, and no loop waits
 *        for a row's square root. With two bytes per element, arithmetic is the bottleneck.
 * fails  In f32 there is nothing to convert. Three rows of floats must fit the first-level cache,
 *        so this rung rejects rows longer than a block of sums.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static const row_recipe recipe = {.statistics = CERTIFIED};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_kept_forward(p, a, &recipe);
}

NL_IMPL(.about = "16-bit rows converted once, kept as floats", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .c_max = KEPT,
        .thresholds = kept_thresholds, .range_safe = true, .strided = true, .method = NL_REFINED,
        .lanes = 4 * VLEN, .forward = forward);
