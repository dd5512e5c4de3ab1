/* Caches a oneDNN primitive for each kind of call, and runs it on given buffers.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

#include <dnnl.h>

/* The value of oneDNN's flag; versions without RMSNorm reject it. */
enum { RMS_NORM = 0x20 };

/* The key of a cached primitive. No padding, because bytes are compared. */
typedef struct plan_key {
    size_t n, c, s;
    nl_op op;
    nl_pass pass;
    nl_dtype from, to; /* storage type of x, and of the other tensors */
    dnnl_prop_kind_t kind;
    unsigned flags;
    float eps;
    int threads;
} plan_key;
_Static_assert(sizeof(plan_key) == 3 * sizeof(size_t) + 8 * sizeof(int), "plan_key has padding");

enum { PARTS_MAX = 9 };

/* A primitive, its arguments, and working memory for the code around it. */
typedef struct plan {
    plan_key w;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[PARTS_MAX];
    int count, inputs;    /* arguments with a memory object; inputs of the primitive */
    float *statistics[2]; /* [groups] each */
    float *ones;          /* [c] */
    float *unwanted;      /* [c], receives a result that the caller does not want */
    float *x;             /* [n][c]: x + residual, or a temporary dx; NULL until needed */
} plan;

/* Call this function first. note() shows a message whenever something fails. */
bool onednn_start(void (*note)(const char *text));

/* The name of oneDNN's implementation; NULL: there is none. */
const char *onednn_has(const plan_key *w, char name[64]);

/* The number of groups that share one mean and variance. */
size_t plan_groups(const plan_key *w);

/* The cached plan of a key, created on its first use. Creating takes far longer than a call, but is
 * not timed: verification comes first. NULL: the creation failed, and note() showed why. */
plan *find_plan(const plan_key *w);

/* An argument: its index in oneDNN, its layout and its address; NULL: absent. */
typedef struct part {
    int name;
    enum { PART_X, PART_TENSOR, PART_GROUPS, PART_CHANNELS } layout;
    const void *at;
} part;

/* Every call of a plan must pass the same parts in the same order, at most PARTS_MAX. */
bool run_plan(plan *k, const part *parts, size_t count);
