/* Included by every rung across ranks: which rank has which part of the tensor, and sums over all
 * ranks. SPDX-License-Identifier: MIT */
#pragma once

#include "kernel.h"

#include <mpi.h>
#include <stdlib.h>

/* The split axis has at most SEGMENTS segments, whatever the number of ranks. */
enum { SEGMENTS = 16, RANKS_MAX = 64 };

/* Merges two partial results, which are arrays of elements of `width` floats. `type` and `op`
 * describe the elements and the merge to MPI. The partial result of no data is zeros. */
typedef struct nl_reduction {
    size_t width;
    void (*merge)(void *into, const void *from, size_t elements);
    MPI_Datatype type;
    MPI_Op op;
} nl_reduction;

extern nl_reduction nl_sums;    /* one float */
extern nl_reduction nl_moments; /* count, mean, and M2, the sum of squares around the mean */
void nl_moments_make(void);     /* sets type and op of nl_moments */

/* The split axis, samples or rows (n) or features (c), has `total` elements. Rank k has segments
 * border[k] to border[k + 1] - 1. This rank has `own` segments; its part begins at `first`, and its
 * segment g begins at begin[g] of the part. */
typedef struct nl_ranks {
    MPI_Comm comm;
    int rank, size;
    size_t total, segments, own, first, border[RANKS_MAX + 1], begin[SEGMENTS + 1];
    const struct nl_order *order;
} nl_ranks;

/* A reduction. Fill nl_part() of each own segment, call the order's start(), compute what does not
 * need the result, then call nl_job_wait(). */
typedef struct nl_job {
    const nl_ranks *ranks;
    const nl_reduction *how;
    size_t elements, floats; /* size of the result */
    float *parts;            /* [own segments][floats] */
    float *all;              /* the result; for order_tree, [segments][floats] */
    int *counts;             /* order_tree: MPI reads them until nl_job_wait() */
    MPI_Request request;
} nl_job;

/* The order in which partial results are merged. */
typedef struct nl_order {
    const char *name;
    void (*start)(nl_job *job);
    void (*finish)(nl_job *job); /* or NULL */
} nl_order;

extern const nl_order nl_order_any, nl_order_tree;

void nl_job_make(nl_job *job, const nl_ranks *r, const nl_reduction *how, size_t elements);
float *nl_job_wait(nl_job *job); /* the result, on every rank; valid until nl_job_free() */
float *nl_job_run(nl_job *job);  /* the order's start(), then nl_job_wait() */
void nl_job_free(nl_job *job);

static inline float *nl_part(const nl_job *job, size_t g) {
    return job->parts + g * job->floats;
}

void *nl_zeros(size_t bytes); /* ends the program if there is no memory */

/* A rung. `impl` describes it, as in the library's table; forward and backward get the problem and
 * arguments of this rank's part. */
typedef struct nl_rung {
    nl_impl impl;
    bool features; /* splits the features, not samples or rows */
    void (*forward)(const nl_ranks *, const nl_problem *, const nl_forward_args *);
    void (*backward)(const nl_ranks *, const nl_problem *, const nl_backward_args *);
} nl_rung;

#define NL_ROW_NORMS (NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM))
#define NL_RUNG(name_, pass, layers, method_, lanes_, ...) \
    const nl_rung name_ = {{.name = #name_,                \
                            .isa = "c",                    \
                            .ops = layers,                 \
                            .passes = NL_BIT(pass),        \
                            .dtypes = NL_ALL_DTYPES,       \
                            .method = method_,             \
                            .lanes = lanes_},              \
                           __VA_ARGS__}

/* Makes a rung of kernel(view, ranks). The kernel is inlined twice, once with f32 as a constant. */
#define NL_FORWARD_RUNG(name, layers, method, splits_features)                              \
    static void forward(const nl_ranks *r, const nl_problem *p, const nl_forward_args *a) { \
        nl_view v = nl_view_of(p, a);                                                       \
        v.t == NL_F32 ? (v.t = NL_F32, kernel(v, r)) : kernel(v, r);                        \
    }                                                                                       \
    NL_RUNG(name, NL_FORWARD, layers, method, 0, .forward = forward, .features = splits_features)
