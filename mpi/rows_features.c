/* idea   A row is longer than what one rank should hold, so each rank has some of its features. The
 *        partial results of all rows go into one allreduce: Chan's triple for LayerNorm, the sum of
 *        squares for RMSNorm.
 * gain   One latency for all rows, not one for each; a third of the bytes for RMSNorm.
 * fails  No rank computes while the message travels.
 * SPDX-License-Identifier: MIT */
#include "rows.h"

NL_INLINE void rows(nl_view v, const nl_ranks *r) {
    nl_job job;
    nl_rows_moments(v, r, &job, 0, v.n);
    nl_rows_output(v, &job, nl_job_run(&job), 0);
}

NL_FORWARD_OF(rows)

NL_RUNG(rows_features, true, forward, NULL,
        .ops = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_WELFORD);
