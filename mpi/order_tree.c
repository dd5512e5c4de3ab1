/* idea   Every rank gets the partial results of all segments and merges them in one binary tree,
 *        which does not depend on the ranks.
 * gain   The same bits for any number of ranks, any split and any MPI; no user-defined operation.
 * fails  An allgather replaces the allreduce: it sends up to SEGMENTS times the bytes, and every
 *        rank does all merges. At most SEGMENTS ranks get work.
 * SPDX-License-Identifier: MIT */
#include "ranks.h"

static void start(nl_job *job) {
    const nl_ranks *r = job->ranks;
    int *counts = job->counts = nl_zeros(2 * (size_t)r->size * sizeof(int));
    int *offsets = counts + r->size;
    for (int k = 0; k < r->size; k++) {
        counts[k] = (int)((r->border[k + 1] - r->border[k]) * job->elements);
        offsets[k] = (int)(r->border[k] * job->elements);
    }
    job->all = nl_zeros(r->segments * job->floats * sizeof(float));
    const int own = counts[r->rank];
    MPI_Datatype type = job->how->type;
    MPI_Iallgatherv(job->parts, own, type, job->all, counts, offsets, type, r->comm, &job->request);
}

static void finish(nl_job *job) {
    const size_t segments = job->ranks->segments;
    for (size_t width = 1; width < segments; width *= 2)
        for (size_t g = 0; g + width < segments; g += 2 * width) {
            float *left = job->all + g * job->floats, *right = left + width * job->floats;
            job->how->merge(left, right, job->elements);
        }
}

const nl_order nl_order_tree = {"tree", start, finish};
