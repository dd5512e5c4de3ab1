/* idea   Rows of up to six vectors, one vector's lanes of them at a time: their sums are reduced
 *        together, so that all lanes of a vector hold sums, and the statistics of all these rows are
 *        computed at once. Gamma and beta of up to four vectors stay in registers. A residual or a
 *        cast before the weight takes the loops of rows/forward.c. Rows that are whole lines are
 *        stored past the caches where the plan says so.
 * gain   Reducing a vector to one number, the root and the division take longer than a short row
 *        does. Together, 16 rows take little more than one.
 * fails  Few rows; and long ones, which leave the first-level cache before they are written.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    static const row_recipe cached = {.statistics = CERTIFIED},
                            streams = {.statistics = CERTIFIED, .streaming = true};
    (void)threads;
    if (!a->residual && p->casting != NL_CAST_BEFORE_WEIGHT)
        rows_short_forward(p, a);
    else
        rows_forward(p, a, a->plan && a->plan->streams ? &streams : &cached);
}

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN},
                                          {NL_OF_C, 2 * VLEN},
                                          {NL_OF_C, 3 * VLEN},
                                          {NL_OF_C, HELD *VLEN},
                                          {NL_OF_N, FEW + 1},
                                          {NL_OF_N, VLEN + 1},
                                          {0}};

NL_IMPL(.about = "short rows, as many together as a vector has lanes", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .c_max = SHORT * VLEN,
        .thresholds = thresholds, .strided = true, .heeds_stores = true, .range_safe = true,
        .method = NL_REFINED, .lanes = 2 * VLEN, .forward = forward);
