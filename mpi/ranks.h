/* What a rung across ranks includes: who has which part of the tensor, and sums over the ranks.
 * docs/ranks.md explains. SPDX-License-Identifier: MIT */
#ifndef NL_RANKS_H
#define NL_RANKS_H

#include "kernel.h"

#include <mpi.h>
#include <stdlib.h>

/* The split axis is cut into at most this many segments, whatever the number of ranks. */
enum { SEGMENTS = 16 };

/* How two partial results become one: elements of `width` floats. `op` is the same for MPI; NULL:
 * MPI_SUM. Zeros are the partial result of nothing. */
typedef struct nl_reduction {
    size_t width;
    void (*merge)(float *into, const float *from, size_t elements);
    MPI_User_function *op;
} nl_reduction;

extern const nl_reduction nl_sums;    /* one float */
extern const nl_reduction nl_moments; /* count, mean, M2: the sum of squares around that mean */

typedef struct nl_order nl_order;

/* Who has what: rank r has the segments border[r] to border[r + 1] - 1 of the split axis, which has
 * `total` elements: samples or rows (n), or features (c). */
typedef struct nl_ranks {
    MPI_Comm comm;
    int rank, size;
    size_t total, segments;
    const size_t *border; /* [size + 1] */
    const nl_order *order;
} nl_ranks;

static inline size_t nl_segments_of(size_t total) {
    return total < SEGMENTS ? total : SEGMENTS;
}

/* The first element of segment g, on the whole axis. */
static inline size_t nl_segment(const nl_ranks *r, size_t g) {
    return r->segments ? r->total * g / r->segments : 0;
}

/* The segments of this rank: how many, and where number g begins in the rank's own part. */
static inline size_t nl_own(const nl_ranks *r) {
    return r->border[r->rank + 1] - r->border[r->rank];
}

static inline size_t nl_own_begin(const nl_ranks *r, size_t g) {
    const size_t first = r->border[r->rank];
    return nl_segment(r, first + g) - nl_segment(r, first);
}

/* Partial results of segments begin to begin + width - 1. */
typedef struct nl_node {
    size_t begin, width;
    float *value;
} nl_node;

/* A reduction: fill nl_part() of each own segment, start it, do what does not need the result, and
 * wait for it. */
typedef struct nl_job {
    const nl_ranks *ranks;
    const nl_reduction *how;
    size_t elements;
    float *parts; /* [own][elements][width] */
    float *all;   /* order_tree: the nodes of all ranks */
    int *counts;  /* order_tree: of nodes by rank; MPI reads them until the end */
    nl_node node[SEGMENTS];
    size_t nodes; /* this rank's parts, merged as far as the tree allows */
    MPI_Datatype type;
    MPI_Request request;
} nl_job;

/* Who decides the order in which the ranks' parts are added. */
struct nl_order {
    const char *name;
    void (*start)(nl_job *job, bool wait);
    const float *(*finish)(nl_job *job);
};

extern const nl_order nl_order_any, nl_order_tree;

/* Zeros for the parts; ends the program if there is no memory. */
void nl_job_make(nl_job *job, const nl_ranks *r, const nl_reduction *how, size_t elements);
void nl_job_start(nl_job *job);
const float *nl_job_wait(nl_job *job); /* the result on every rank, until nl_job_free() */
const float *nl_job_run(nl_job *job);  /* both, with a blocking call of MPI */
void nl_job_free(nl_job *job);

static inline size_t nl_floats(const nl_job *job) {
    return job->elements * job->how->width;
}

static inline float *nl_part(const nl_job *job, size_t g) {
    return job->parts + g * nl_floats(job);
}

/* Appends a node, and merges the last two as long as they are halves of a node of the tree. */
void nl_push(nl_job *job, nl_node *stack, size_t *count, nl_node next);
/* Merges all that is left, from the end. */
void nl_collapse(nl_job *job, nl_node *stack, size_t count);

void *nl_ranks_alloc(size_t bytes); /* zeros; ends the program if there are none */

/* A rung: what it takes and its method, in the library's terms, and its functions. The problem and
 * the arguments are those of this rank's part. */
typedef struct nl_rung {
    nl_impl impl;
    bool features; /* splits the features; else samples or rows */
    void (*forward)(const nl_ranks *, const nl_problem *, const nl_forward_args *);
    void (*backward)(const nl_ranks *, const nl_problem *, const nl_backward_args *);
} nl_rung;

#define NL_RUNGS(F)                                                                    \
    F(batchnorm_two)                                                                   \
    F(batchnorm_merged) F(batchnorm_overlapped) F(batchnorm_backward) F(rows_features) \
        F(rows_pipelined) F(rows_gradients)

#define NL_RUNG_DECLARED(name) extern const nl_rung nl_rung_##name;
NL_RUNGS(NL_RUNG_DECLARED)

/* Ends the file of a rung. */
#define NL_RUNG(stem, splits_features, forward_, backward_, ...)              \
    const nl_rung nl_rung_##stem = {{.name = #stem, .isa = "c", __VA_ARGS__}, \
                                    splits_features,                          \
                                    forward_,                                 \
                                    backward_}

/* forward() for a kernel of a view, with f32 as a constant in its loops. */
#define NL_FORWARD_OF(kernel)                                                               \
    static void forward(const nl_ranks *r, const nl_problem *p, const nl_forward_args *a) { \
        nl_view v = nl_view_of(p, a);                                                       \
        if (v.t == NL_F32)                                                                  \
            v.t = NL_F32, kernel(v, r);                                                     \
        else                                                                                \
            kernel(v, r);                                                                   \
    }

#endif
