/* LayerNorm, RMSNorm and Qwen2RMSNorm in vector words, one row after another. A rung passes its
 * recipe to a function below. The loops are compiled once for each instruction set, layer and
 * storage type (instances.h), and all rungs share them. SPDX-License-Identifier: MIT */
#pragma once

#include "best.h"
#include "vec/vec.h"

enum { ROW_NORMS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };

/* How a rung computes a row. */
typedef struct row_recipe {
    bool centred; /* subtracts the mean (LayerNorm); set by the instance, not the rung */
    enum { TWO_PASS, REFINED, SHIFTED, CERTIFIED } statistics;
    bool one_sum;          /* uses one vector for each sum, not four */
    bool pipelined;        /* sums the next row in the loop that writes this row */
    bool streaming;        /* stores y past the caches and prefetches the next row */
    size_t prefetch_bytes; /* distance at which x is prefetched; 0: none */
} row_recipe;

/* Long rows are summed in pieces of PIECE elements, each in blocks (sums.h), and the pieces' sums
 * are added in double. So the rounding error is as small as for a short row, and threads that share
 * a row give the same bits. */
enum { PIECE = NL_ROW_PIECE, STEP = 4 * VLEN };

static const nl_threshold row_thresholds[]
    __attribute__((unused)) = {{NL_OF_C, VLEN},      {NL_OF_C, 16},    {NL_OF_C, STEP},
                               {NL_OF_C, SUM_BLOCK}, {NL_OF_C, PIECE}, {0}};

/* The body of a rung's forward(). */
#define rows_forward NL_OF_ISA(rows_forward)
NL_API void rows_forward(const nl_problem *p, const nl_forward_args *a, const row_recipe *q);

/* rows_forward() for 16-bit rows of at most KEPT elements, which are converted once (kept.c). */
enum { KEPT = SUM_BLOCK, PAIR = 2 * VLEN };

static const nl_threshold kept_thresholds[]
    __attribute__((unused)) = {{NL_OF_C, VLEN}, {NL_OF_C, PAIR}, {NL_OF_C, STEP},
                               {NL_OF_C, KEPT}, {NL_OF_N, 2},    {0}};

#define rows_kept_forward NL_OF_ISA(rows_kept_forward)
NL_API void rows_kept_forward(const nl_problem *p, const nl_forward_args *a, const row_recipe *q);

/* For rows of at most SHORT vectors, without a residual or a cast (together.c). Computes VLEN rows
 * at a time. gamma and beta stay in registers if they have at most HELD vectors. A call with at
 * most FEW rows computes them one by one. */
enum { HELD = 4, SHORT = 6, FEW = VLEN / 4 };

#define rows_short_forward NL_OF_ISA(rows_short_forward)
NL_API void rows_short_forward(const nl_problem *p, const nl_forward_args *a);

/* The arguments of a call, as the loops receive them. */
typedef struct rows_call {
    const nl_problem *p;
    const nl_forward_args *a;
    const row_recipe *q;
} rows_call;

typedef void rows_instance(const rows_call *call);

static __attribute__((noinline, unused)) void run_each_outer(rows_instance *instance,
                                                             const rows_call *call) {
    const nl_view v = nl_view_of(call->p, call->a);
    const size_t inner = v.rows->inner ? v.rows->inner : v.first + v.n;
    for (size_t r = 0, end; r < v.n; r = end) {
        const nl_view row = nl_row(v, r);
        nl_problem p = *call->p;
        nl_forward_args a = *call->a;
        a.x = row.x, a.y = row.y, a.mean = row.mean, a.rstd = row.rstd;
        end = r + inner - (v.first + r) % inner;
        if (end > v.n) end = v.n;
        p.n = end - r;
        instance(&(rows_call){&p, &a, call->q});
    }
}

/* Is xhat rounded before it is multiplied by the gain? Never in f32. */
NL_INLINE bool casts(const nl_problem *p) {
    return p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32;
}

/* Do adjacent rows of y share a block of `bytes` bytes, such as a cache line? Streaming stores are
 * fast only for whole lines. */
NL_INLINE bool rows_share(const nl_view *v, size_t bytes) {
    const nl_stride y = v->rows ? v->rows->y : (nl_stride){v->y_step, v->y_step};
    return ((uintptr_t)v->y | (v->c | y.row | y.outer) * nl_dtype_size(v->t)) % bytes != 0;
}

/* The longest row for which missing parameters are filled in, in bytes and in elements. In f32 such
 * a row and its parameters fit a first-level cache. */
enum { FILLED_BYTES = 8192, FILLED = FILLED_BYTES / 2 };

/* Is this the common case, but without gamma or (LayerNorm) beta, and are there at least as many
 * rows as missing parameters? */
NL_INLINE bool lacks_parameters(const nl_problem *p, const nl_forward_args *a) {
    const bool centred = nl_layers[p->op].centred;
    const size_t missing = !a->gamma + (centred && !a->beta);
    return missing && missing <= p->n && (centred || !a->beta) && !a->residual && !casts(p) &&
           p->c * nl_dtype_size(p->dtype) <= FILLED_BYTES;
}

NL_INLINE const float *filled(float *vector, size_t c, float value) {
    for (size_t j = 0; j < c; j += VLEN) vstore(NL_F32, vector, j, VLEN, vset(value));
    return vector;
}

/* Calls `forward` with a gain of 1 for a missing gamma and (LayerNorm) -0 for a missing beta. y has
 * the same bits, and the common case's loops need no tests for each vector. */
typedef void rows_function(const nl_problem *p, const nl_forward_args *a, const row_recipe *q);

static NL_OUTLINED __attribute__((unused)) void with_parameters(rows_function *forward,
                                                                const nl_problem *p,
                                                                const nl_forward_args *a,
                                                                const row_recipe *q) {
    float gamma[FILLED + VLEN], beta[FILLED + VLEN];
    nl_forward_args full = *a;
    if (!a->gamma) full.gamma = filled(gamma, p->c, nl_layers[p->op].plus_one ? 0 : 1);
    if (nl_layers[p->op].centred && !a->beta) full.beta = filled(beta, p->c, -0.0f);
    forward(p, &full, q);
}

/* Calls an instance for the common case. The instance takes equally spaced rows, so rows with an
 * inner dimension need a call for each outer index. */
NL_INLINE void run_common(rows_instance *instance, const rows_call *call) {
    const nl_plan *plan = call->a->plan;
    if (__builtin_expect(plan && plan->rows, false))
        run_each_outer(instance, call);
    else
        instance(call);
}

NL_INLINE void take_steps(nl_view *v) {
    if (v->rows) v->x_step = v->rows->x.row, v->y_step = v->rows->y.row;
    v->rows = NULL;
}

/* rows_forward() for TWO_PASS recipes (two_pass.c), and for streaming recipes (streaming.c). */
#define rows_read_twice NL_OF_ISA(rows_read_twice)
#define rows_streamed NL_OF_ISA(rows_streamed)
void rows_read_twice(const nl_problem *p, const nl_forward_args *a, const row_recipe *q);
void rows_streamed(const nl_problem *p, const nl_forward_args *a, const row_recipe *q);

/* Stores y of a row or a piece past the caches: (x - m) * rstd - shift, then gamma and beta. */
typedef struct stats stats;
#define row_streamed NL_OF_ISA(row_streamed)
NL_API void row_streamed(const nl_view *row, const stats *s);
