/* idea   Takes rows of up to six vectors, VLEN rows at a time. Their sums are reduced together, one
 *        row's sum in each lane, and the statistics of all these rows are computed together. gamma
 *        and beta of up to four vectors stay in registers. Rows with a residual or a cast before
 *        the weight use the loops of rows/kept.c if they have 16 bits and are not very short,
 *        otherwise those of rows/forward.c. Rows of whole cache lines are stored past the caches
 *        if the plan says so. If x is large and has gaps, the next rows are prefetched.
 * gain   In a short row the sum over the lanes, the root and the division take longer than the
 *        rest. For 16 rows together, they take little longer than for one row. LayerNorm writes a
 *        group while it computes the means of the next group.
 * fails  No gain for few rows, or long rows, which leave the first-level cache before the output.
 * SPDX-License-Identifier: MIT */
#include "rows/rows.h"

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    static const row_recipe cached = {.statistics = CERTIFIED},
                            streams = {.statistics = CERTIFIED, .streaming = true};
    (void)threads;
    const nl_view v = nl_view_of(p, a);
    const bool whole_lines = a->plan && a->plan->streams && !rows_share(&v, 64);
    const row_recipe *q = whole_lines ? &streams : &cached;
    if (!a->residual && !casts(p))
        rows_short_forward(p, a);
    else if (p->dtype == NL_F32 || p->c <= (a->residual ? 1 : 2) * VLEN)
        rows_forward(p, a, q);
    else
        rows_kept_forward(p, a, q);
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
