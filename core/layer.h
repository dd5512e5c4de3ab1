/* Tables of the layers, the passes and the arguments, and functions derived from them. reference/
 * does not use them, to stay independent. SPDX-License-Identifier: MIT */
#pragma once

#include "strides.h"

/* These counts are not in normlab.h, because a user's compiled code must not depend on them. */
#define NL_OPS (NL_GATE_FIRST_RMSNORM + 1)
#define NL_PASSES (NL_INFERENCE + 1)
#define NL_DTYPES (NL_BF16 + 1)
enum { NL_ALIASES = 2 };

typedef struct nl_layer {
    const char *name, *aliases[NL_ALIASES];
    const char *group;   /* "row" or "channel": the elements that share a mean and rstd */
    bool channels_first; /* x is [n][c][s], as (N, C, ...); if false, x has rows of c, and s is 1 */
    bool by_channel;     /* a group is a channel, over n and s; if false, a row */
    bool centred;        /* subtracts the mean */
    bool plus_one;       /* the gain is 1 + gamma */
    bool beta;
    bool running;  /* has running statistics, and an inference pass */
    bool residual; /* takes a residual, and in backward a dresidual */
    enum { NL_NO_GATE, NL_GATE_LAST, NL_GATE_FIRST } gate; /* multiplies y, or x, by silu(gate) */
} nl_layer;

NL_API extern const nl_layer nl_layers[NL_OPS]; /* exported for kernels of --load */

/* The arguments of nl_forward_args and nl_backward_args, except scratch. */
typedef enum nl_arg {
    NL_X,
    NL_RESIDUAL, /* in backward: dresidual */
    NL_DY,
    NL_GAMMA,
    NL_BETA,
    NL_MEAN,
    NL_RSTD,
    NL_RUNNING_MEAN,
    NL_RUNNING_VAR,
    NL_Y,
    NL_RESIDUAL_OUT,
    NL_DX,
    NL_DGAMMA,
    NL_DBETA,
    NL_GATE,
    NL_DGATE,
    NL_ARGS
} nl_arg;

/* The kind of an argument: a tensor, a float per feature or group, or a parameter per feature. */
typedef enum nl_extent { NL_TENSOR, NL_FEATURES, NL_GROUPS, NL_PARAMETERS, NL_EXTENTS } nl_extent;

/* Defined here so that, in an entry point, compilers turn tests of these fields into constants. */
static const struct nl_arg_row {
    const char *name;
    nl_extent extent;
    unsigned replaces; /* NL_BIT() of each input that this output may overwrite in place */
} nl_args[NL_ARGS] = {
    [NL_X] = {"x", NL_TENSOR, 0},
    [NL_RESIDUAL] = {"residual", NL_TENSOR, 0},
    [NL_DY] = {"dy", NL_TENSOR, 0},
    [NL_GAMMA] = {"gamma", NL_PARAMETERS, 0},
    [NL_BETA] = {"beta", NL_PARAMETERS, 0},
    [NL_MEAN] = {"mean", NL_GROUPS, 0},
    [NL_RSTD] = {"rstd", NL_GROUPS, 0},
    [NL_RUNNING_MEAN] = {"running_mean", NL_FEATURES, 0},
    [NL_RUNNING_VAR] = {"running_var", NL_FEATURES, 0},
    [NL_Y] = {"y", NL_TENSOR, NL_BIT(NL_X)},
    [NL_RESIDUAL_OUT] = {"residual_out", NL_TENSOR, NL_BIT(NL_RESIDUAL)},
    [NL_DX] = {"dx", NL_TENSOR, NL_BIT(NL_DY) | NL_BIT(NL_RESIDUAL)},
    [NL_DGAMMA] = {"dgamma", NL_PARAMETERS, 0},
    [NL_DBETA] = {"dbeta", NL_PARAMETERS, 0},
    [NL_GATE] = {"gate", NL_TENSOR, 0},
    [NL_DGATE] = {"dgate", NL_TENSOR, NL_BIT(NL_GATE)},
};

/* Masks of NL_BIT(): the union of all layers' arguments in a pass. nl_takes() is for one layer. */
extern const struct nl_pass_row {
    const char *name;
    unsigned needs, reads, writes;
} nl_passes[NL_PASSES];

/* Finds the op by its name ("layernorm") or an alias ("gemma", "qwen3next"); false: unknown. */
bool nl_op_from_name(const char *name, nl_op *op);

/* The name of an argument; NL_RESIDUAL is "dresidual" in backward. */
const char *nl_arg_name(nl_arg arg, nl_pass pass);

/* NL_BIT() of each argument of this layer in this pass. */
static inline unsigned nl_takes(nl_op op, nl_pass pass) {
    const nl_layer *l = &nl_layers[op];
    unsigned all = nl_passes[pass].reads | nl_passes[pass].writes, lacks = 0;
    if (!l->centred) lacks |= NL_BIT(NL_MEAN);
    if (!l->beta) lacks |= NL_BIT(NL_BETA) | NL_BIT(NL_DBETA);
    if (!l->running) lacks |= NL_BIT(NL_RUNNING_MEAN) | NL_BIT(NL_RUNNING_VAR);
    if (!l->residual) lacks |= NL_BIT(NL_RESIDUAL) | NL_BIT(NL_RESIDUAL_OUT);
    if (!l->gate) lacks |= NL_BIT(NL_GATE) | NL_BIT(NL_DGATE);
    return all & ~lacks;
}

/* A group is the elements that share one mean and rstd: a row or a channel. */
static inline size_t nl_group_count(const nl_problem *p) {
    return nl_layers[p->op].by_channel ? p->c : p->n;
}

static inline size_t nl_group_size(const nl_problem *p) {
    return (nl_layers[p->op].by_channel ? p->n : p->c) * p->s;
}

/* For element i of a tensor: its feature, its group, and its index within the group. */
static inline size_t nl_feature_of(const nl_problem *p, size_t i) {
    return i / p->s % p->c;
}

static inline size_t nl_group_of(const nl_problem *p, size_t i) {
    return nl_layers[p->op].by_channel ? nl_feature_of(p, i) : i / nl_group_size(p);
}

static inline size_t nl_member_of(const nl_problem *p, size_t i) {
    if (!nl_layers[p->op].by_channel) return i % nl_group_size(p);
    return i / (p->c * p->s) * p->s + i % p->s;
}

/* The inverse: the index in the tensor of element e of group g. */
static inline size_t nl_element(const nl_problem *p, size_t g, size_t e) {
    if (!nl_layers[p->op].by_channel) return g * nl_group_size(p) + e;
    return (e / p->s * p->c + g) * p->s + e % p->s;
}

static inline size_t nl_bytes(const nl_problem *p, nl_extent extent) {
    switch (extent) {
    case NL_TENSOR: return p->n * p->c * p->s * nl_dtype_size(p->dtype);
    case NL_FEATURES: return p->c * sizeof(float);
    case NL_PARAMETERS: return p->c * nl_dtype_size(p->parameters);
    default: return nl_group_count(p) * sizeof(float);
    }
}

/* The stride of a tensor, with zeros replaced by their defaults. */
static inline nl_stride nl_arg_stride(const nl_problem *p, nl_arg arg) {
    switch (arg) {
    case NL_X: return nl_stride_of(p, p->x_stride);
    case NL_DY: return nl_stride_of(p, p->dy_stride);
    case NL_RESIDUAL:
    case NL_GATE: return nl_stride_of(p, p->residual_stride);
    case NL_RESIDUAL_OUT:
    case NL_DGATE: return nl_stride_of(p, p->residual_out_stride);
    default: return nl_stride_of(p, p->y_stride);
    }
}

/* Bytes from a tensor's first element to its last, gaps between rows included. */
static inline size_t nl_arg_bytes(const nl_problem *p, nl_arg arg) {
    if (nl_args[arg].extent != NL_TENSOR || !p->n || nl_is_packed(p))
        return nl_bytes(p, nl_args[arg].extent);
    return nl_span(p, nl_arg_stride(p, arg)) * nl_dtype_size(p->dtype);
}

/* Finds the elements of a tensor, strided or not. */
typedef struct nl_places {
    bool packed;
    size_t c;
    nl_rows rows;
    nl_stride stride;
} nl_places;

static inline nl_places nl_places_of(const nl_problem *p, nl_arg arg) {
    return (nl_places){nl_args[arg].extent != NL_TENSOR || nl_is_packed(p), p->c, nl_rows_of(p),
                       nl_arg_stride(p, arg)};
}

/* The index in memory of element i % c of row i / c. */
static inline size_t nl_place(nl_places at, size_t i) {
    return at.packed ? i : nl_row_at(&at.rows, at.stride, i / at.c) + i % at.c;
}
