/* A oneDNN primitive for each kind of call: made once, kept, given its buffers and run.
 * SPDX-License-Identifier: MIT */
#ifndef NL_ONEDNN_PRIMITIVE_H
#define NL_ONEDNN_PRIMITIVE_H

#include "normlab.h"

#include <dnnl.h>

/* The flag's value in the versions that have it; the others refuse it when asked. */
enum { RMS_NORM = 0x20 };

/* What a primitive is made for. Compared byte by byte: no padding. */
typedef struct wish {
    size_t n, c, s;
    nl_op op;
    nl_pass pass;
    nl_dtype from, to; /* storage of x, and of the other tensors */
    dnnl_prop_kind_t kind;
    unsigned flags;
    float eps;
    int threads;
} wish;
_Static_assert(sizeof(wish) == 3 * sizeof(size_t) + 8 * sizeof(int), "a wish has padding");

enum { PARTS_MOST = 9 };

/* A primitive, its arguments, and working memory for what surrounds it. */
typedef struct plan {
    wish w;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[PARTS_MOST];
    int count, inputs;    /* given so far; those that it reads */
    float *statistics[2]; /* [groups] each */
    float *ones;          /* [c] */
    float *unwanted;      /* [c]: where a result goes that nobody asked for */
    float *x;             /* [n][c] with the residual added, once there was one */
} plan;

/* Before all else. note: for people, whenever something fails. */
bool onednn_start(void (*note)(const char *text));

/* The name of oneDNN's implementation, or NULL where it has none. */
const char *onednn_has(const wish *w, char name[64]);

/* The values that share one mean and variance. */
size_t wish_groups(const wish *w);

/* Making one takes far longer than a call. That is done in its first call, which is never timed
 * since nothing is timed before it has been verified. NULL: it cannot be had, and there is a note. */
plan *find_plan(const wish *w);

/* An argument: its name in oneDNN, how it is laid out, and where it is; at NULL it is not given. */
typedef struct part {
    int name;
    enum { PART_X, PART_TENSOR, PART_GROUPS, PART_CHANNELS } layout;
    const void *at;
} part;

/* The same parts in the same order in every call of a plan, PARTS_MOST at most. */
bool run_plan(plan *k, const part *parts, size_t count);

#endif
