/* idea   Channels do not wait for each other. While the moments of one block of channels travel,
 *        this rank computes those of the next block, and then stores the y of the block before.
 * gain   Hides the network behind the computation, where MPI moves messages without being called.
 * fails  One allreduce a block: where latency dominates, BLOCKS times the cost. Most MPI libraries
 *        make progress only inside their calls, so little may overlap.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

enum { BLOCKS = 4 };

NL_INLINE void output(nl_view v, const nl_ranks *r, nl_job *job, size_t j0) {
    const float *moments = nl_job_wait(job);
    for (size_t j = 0; j < job->elements; j++, moments += 3)
        nl_batch_output(v, r, j0 + j, moments[1], moments[2] / moments[0]);
    nl_job_free(job);
}

NL_INLINE void batchnorm(nl_view v, const nl_ranks *r) {
    nl_job job[BLOCKS];
    size_t begin[BLOCKS + 1];
    for (size_t b = 0; b <= BLOCKS; b++) begin[b] = v.c * b / BLOCKS;
    for (size_t b = 0; b < BLOCKS; b++) {
        nl_job_make(&job[b], r, &nl_moments, begin[b + 1] - begin[b]);
        nl_batch_moments(v, &job[b], begin[b], begin[b + 1]);
        nl_job_start(&job[b]);
        if (b) output(v, r, &job[b - 1], begin[b - 1]);
    }
    output(v, r, &job[BLOCKS - 1], begin[BLOCKS - 1]);
}

NL_FORWARD_OF(batchnorm)

NL_RUNG(batchnorm_overlapped, false, forward, NULL, .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_WELFORD);
