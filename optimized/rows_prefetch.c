/* idea   rows_pipelined, prefetching x 4 KiB ahead.
 * gain   Helps processors whose own prefetcher stops at a page, or follows two streams badly.
 * fails  Costs other processors an instruction per line, and near the end useless prefetches.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

enum { AHEAD = 4096 }; /* bytes */

static const row_recipe recipe = {.statistics = CERTIFIED,
                                  .pipelined = true,
                                  .prefetch_bytes = AHEAD};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rows_forward(p, a, &recipe);
}

static const nl_threshold thresholds[] = {{NL_OF_C, AHEAD / 4}, {NL_OF_C, AHEAD / 2}, {0}};

NL_IMPL(.about = "pipelined, x prefetched 4 KiB ahead", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = thresholds,
        .range_safe = true, .strided = true, .method = NL_REFINED, .lanes = 4 * VLEN,
        .forward = forward);
