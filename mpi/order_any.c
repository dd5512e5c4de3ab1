/* idea   Each rank merges its own segments, and one allreduce merges the results. MPI chooses the
 *        order of merges by the number of ranks and the size of the message.
 * gain   MPI's best algorithm: few steps if the message is short; if it is long, each rank sends
 *        only about twice its bytes.
 * fails  Another number of ranks, or another MPI, gives other bits. Chan's formula must not be
 *        declared commutative (ranks.c): if it were, MPICH would merge (a, b) on one rank and
 *        (b, a) on another, and the last bits would differ.
 * SPDX-License-Identifier: MIT */
#include "ranks.h"

static void start(nl_job *job) {
    const nl_ranks *r = job->ranks;
    const nl_reduction *how = job->how;
    job->all = nl_zeros(job->floats * sizeof(float)); /* a rank without segments sends zeros */
    for (size_t g = 0; g < r->own; g++) how->merge(job->all, nl_part(job, g), job->elements);
    MPI_Iallreduce(MPI_IN_PLACE, job->all, (int)job->elements, how->type, how->op, r->comm,
                   &job->request);
}

const nl_order nl_order_any = {"any", start, NULL};
