/* idea   rows_pipelined, storing y past the caches.
 * gain   An ordinary store first reads the line it will overwrite: a third of all traffic, saved.
 * fails  Where y would have stayed in a cache, for us or for whoever reads it next: twice the time.
 * SPDX-License-Identifier: MIT */
#include "rows.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    const recipe q = {.how = CERTIFIED,
                      .pipelined = true,
                      .streaming = true,
                      .ahead = 4096,
                      .by_type = true};
    rows_forward(p, a, q);
}

NL_IMPL(.about = "pipelined, y stored past the caches", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 7, .range_safe = true,
        .method = NL_REFINED, .lanes = 4 * VLEN, .forward = forward);
