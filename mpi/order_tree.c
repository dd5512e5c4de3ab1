/* idea   The segments are the leaves of a binary tree that does not know the ranks. A rank merges
 *        as much of the tree as it has; every rank gets the nodes of all others, and merges the
 *        rest in the same order.
 * gain   The same bits for any number of ranks and any split.
 * fails  An allgather instead of an allreduce: each rank receives a node or more from every other,
 *        so bytes and additions grow with the number of ranks, up to SEGMENTS.
 * SPDX-License-Identifier: MIT */
#include "ranks.h"

/* The nodes that rank k sends. */
static size_t nodes_of(nl_job *job, int k, nl_node *nodes) {
    size_t count = 0;
    for (size_t g = job->ranks->border[k]; g < job->ranks->border[k + 1]; g++)
        nl_push(job, nodes, &count, (nl_node){g, 1, NULL});
    return count;
}

static void begin(nl_job *job, bool wait) {
    const nl_ranks *r = job->ranks;
    int *counts = nl_ranks_alloc(2 * (size_t)r->size * sizeof(int)), *offsets = counts + r->size;
    job->counts = counts;
    nl_node nodes[SEGMENTS];
    int sum = 0;
    for (int k = 0; k < r->size; k++) {
        counts[k] = (int)nodes_of(job, k, nodes);
        offsets[k] = sum, sum += counts[k];
    }
    const size_t bytes = nl_floats(job) * sizeof(float);
    job->all = nl_ranks_alloc(((size_t)sum + 1) * bytes); /* nothing at all is a zero */
    float *own = job->all + (size_t)offsets[r->rank] * nl_floats(job);
    for (size_t i = 0; i < job->nodes; i++)
        memcpy(own + i * nl_floats(job), job->node[i].value, bytes);

    MPI_Datatype node;
    MPI_Type_contiguous((int)job->elements, job->type, &node);
    MPI_Type_commit(&node);
    if (wait)
        MPI_Allgatherv(MPI_IN_PLACE, 0, node, job->all, counts, offsets, node, r->comm);
    else
        MPI_Iallgatherv(MPI_IN_PLACE, 0, node, job->all, counts, offsets, node, r->comm,
                        &job->request);
    MPI_Type_free(&node);
}

static const float *finish(nl_job *job) {
    nl_node nodes[SEGMENTS], stack[SEGMENTS];
    size_t count = 0;
    float *value = job->all;
    for (int k = 0; k < job->ranks->size; k++) {
        const size_t sent = nodes_of(job, k, nodes);
        for (size_t i = 0; i < sent; i++, value += nl_floats(job))
            nl_push(job, stack, &count, (nl_node){nodes[i].begin, nodes[i].width, value});
    }
    nl_collapse(job, stack, count);
    return job->all;
}

const nl_order nl_order_tree = {"tree", begin, finish};
