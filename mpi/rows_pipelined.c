/* idea   Blocks of rows: while the partial results of one block travel, this rank reads the next
 *        block, and then stores the y of the block before.
 * gain   Hides the network behind the computation, and a block of ROWS rows may still be in a cache
 *        when its y is computed.
 * fails  One latency for each block, as in batchnorm_overlapped.c.
 * SPDX-License-Identifier: MIT */
#include "rows.h"

enum { ROWS = 64 };

NL_INLINE void rows(nl_view v, const nl_ranks *r) {
    nl_job job[2];
    size_t r0 = 0, r1 = 0;
    for (size_t b = 0; r1 < v.n; b++) {
        const size_t before = r0;
        r0 = r1, r1 = v.n - r1 < ROWS ? v.n : r1 + ROWS;
        nl_rows_moments(v, r, &job[b % 2], r0, r1);
        nl_job_start(&job[b % 2]);
        nl_job *last = &job[(b + 1) % 2];
        if (b) nl_rows_output(v, last, nl_job_wait(last), before);
        if (r1 == v.n) nl_rows_output(v, &job[b % 2], nl_job_wait(&job[b % 2]), r0);
    }
}

NL_FORWARD_OF(rows)

NL_RUNG(rows_pipelined, true, forward, NULL,
        .ops = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_WELFORD);
