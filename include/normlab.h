/* normlab: BatchNorm, LayerNorm, RMSNorm, Qwen2RMSNorm and gated RMSNorm on the CPU. The library's only
 * header.
 *
 * A *problem* is what to compute, an *implementation* is how. Pick one by name, or pass NULL and
 * let nl_best() choose:
 *
 *     nl_problem p = {.op = NL_LAYERNORM, .pass = NL_FORWARD, .dtype = NL_F32,
 *                     .n = rows, .c = features, .s = 1, .eps = 1e-5f};
 *     nl_forward_args a = {.x = x, .gamma = gamma, .beta = beta, .y = y};
 *     if (nl_forward(NULL, &p, &a, 1) != NL_OK) fprintf(stderr, "%s\n", nl_message());
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NL_API __attribute__((visibility("default")))
#else
#define NL_API
#endif

#define NL_VERSION "0.1.0"

/* With r = rstd, over the elements of one group (a row of c, or all n * s values of one channel):
 *   LayerNorm, BatchNorm   y = gamma * (x - mean) * r + beta,  r = 1 / sqrt(var + eps), var biased
 *   RMSNorm                y = gamma * x * r,                  r = 1 / sqrt(mean(x^2) + eps)
 *   Qwen2RMSNorm           y = (1 + w) * x * r,                w passed as gamma
 *   gated RMSNorm          y = gamma * x * r * silu(gate),     silu(z) = z / (1 + exp(-z))
 *   gate first             RMSNorm of x * silu(gate)
 * Qwen2RMSNorm is GemmaRMSNorm and Qwen3NextRMSNorm in Hugging Face transformers, whose class called
 * Qwen2RMSNorm is plain RMSNorm; docs/naming.md tells the story. Gated RMSNorm is Qwen3NextRMSNormGated
 * there; Mamba-2's has the gate first, unless its norm_before_gate is set.
 * Sources: Ioffe & Szegedy 2015 (arXiv 1502.03167), Ba, Kiros & Hinton 2016 (arXiv 1607.06450),
 * Zhang & Sennrich 2019 (arXiv 1910.07467). */
typedef enum nl_op {
    NL_BATCHNORM,
    NL_LAYERNORM,
    NL_RMSNORM,
    NL_QWEN2_RMSNORM,
    NL_GATED_RMSNORM,
    NL_GATE_FIRST_RMSNORM
} nl_op;

/* INFERENCE is BatchNorm on its running statistics; for the row norms inference is FORWARD. */
typedef enum nl_pass { NL_FORWARD, NL_BACKWARD, NL_INFERENCE } nl_pass;

/* How tensors (x, residual, gate, y, residual_out and their gradients) are stored: IEEE binary32, IEEE
 * binary16 or bfloat16. Arithmetic is float in all three, except in demonstrations. */
typedef enum nl_dtype { NL_F32, NL_F16, NL_BF16 } nl_dtype;

/* Where the storage type rounds, with D = round to dtype and xhat the normalized value in float:
 *   NL_CAST_LAST            D(xhat * gamma + beta)       PyTorch, OLMo2, Gemma, Qwen3-Next
 *   NL_CAST_BEFORE_WEIGHT   D(D(xhat) * gamma + beta)    HF Llama and Qwen2, vLLM
 * In gated RMSNorm silu(gate), a float, is a factor of the outer D. */
typedef enum nl_casting { NL_CAST_LAST, NL_CAST_BEFORE_WEIGHT } nl_casting;

/* How x + residual is normalized: as the float it is (FlashInfer's fused kernels, nano-vllm), or
 * rounded to dtype first, as where it is stored and read again (vLLM's kernels, Hugging Face, PyTorch
 * eager). */
typedef enum nl_sum { NL_SUM_FLOAT, NL_SUM_ROUNDED } nl_sum;

/* How y or dx is stored: STREAMING bypasses the caches and saves memory traffic, CACHED leaves it
 * in them for the next reader. AUTO decides by size: see nl_best(). */
typedef enum nl_stores { NL_STORES_AUTO, NL_STORES_CACHED, NL_STORES_STREAMING } nl_stores;

/* BAD_ARGUMENT: the problem or a buffer is invalid. UNSUPPORTED: the implementation does not take
 * the problem, or the processor lacks its ISA. OUT_OF_MEMORY: for scratch. */
typedef enum nl_status { NL_OK, NL_BAD_ARGUMENT, NL_UNSUPPORTED, NL_OUT_OF_MEMORY } nl_status;

/* Where the rows of a tensor begin, in elements from its first: row r at
 *     r / inner * outer + r % inner * row
 * with the problem's inner; if that is 0, at r * row. Zero stands for rows that follow each other: a
 * row of c, an outer of inner * row. A packed [tokens][heads + others][c], of which the heads are
 * normalized, has n = tokens * heads, inner = heads, row = c, outer = (heads + others) * c. */
typedef struct nl_stride {
    size_t row, outer;
} nl_stride;

/* Tensors are [n][c][s], s contiguous. The row norms have s = 1: n rows of c features, statistics
 * per row. BatchNorm has statistics per channel c, taken over n and s: (N, C) is [N][C][1] and NCHW
 * is [N][C][H*W]. */
typedef struct nl_problem {
    nl_op op;
    nl_pass pass;
    nl_dtype dtype;
    nl_casting casting;
    size_t n, c, s;
    float eps;               /* >= 0, inside the root, added to the variance or mean square */
    float momentum;          /* BatchNorm: weight of the NEW statistic in the running one, 0..1 */
    bool biased_running_var; /* running_var takes the variance over n*s - 1 (false, as PyTorch) or
                                over n*s (true, as Flax) */
    nl_stores stores;        /* nl_best() and implementations that heed stores honour this; any
                                other that is named keeps its own */
    nl_dtype parameters;     /* of gamma, beta, dgamma and dbeta: NL_F32, or that of x. Computed in
                                float all the same, and rounded once */
    nl_sum sum;              /* with a residual */
    /* Row norms whose rows do not follow each other; rows of a tensor must not overlap. */
    size_t inner; /* 0, or a divisor of n */
    nl_stride x_stride, dy_stride;
    nl_stride residual_stride;     /* of dresidual too, and of gate: no layer has both */
    nl_stride y_stride;            /* of dx too */
    nl_stride residual_out_stride; /* and of dgate */
} nl_problem;

/* Inputs are never written. Allowed in place: y == x, residual_out == residual. Any other overlap
 * of an output with anything is NL_BAD_ARGUMENT, and so is a pointer that is not aligned: a tensor
 * to its element (4 bytes, or 2), an array of floats to 4 bytes, scratch to 64. What kernels get: gamma,
 * beta, dgamma and dbeta are always float, and `parameters` is NL_F32. */
typedef struct nl_forward_args {
    const void *x; /* dtype [n][c][s] */
    const void
        *residual;    /* dtype [n][c], or NULL; row norms without a gate: normalizes x + residual */
    const void *gate; /* dtype [n][c]; gated RMSNorm, in either order, only */
    const void *gamma;   /* parameters [c], or NULL for a gain of one (for Qwen2RMSNorm: w = 0) */
    const void *beta;    /* parameters [c], or NULL for zero; LayerNorm and BatchNorm only */
    void *y;             /* dtype [n][c][s] */
    void *residual_out;  /* dtype [n][c], or NULL: x + residual rounded to dtype */
    float *mean;         /* [n] or BatchNorm [c], or NULL: saved for backward. Not for RMSNorm */
    float *rstd;         /* [n] or BatchNorm [c], or NULL: saved for backward */
    float *running_mean; /* [c]: BatchNorm, updated by FORWARD unless NULL, read by INFERENCE */
    float *running_var;  /* [c]: likewise; eps is not part of it */
    void *scratch;       /* nl_scratch_bytes() of working memory; NULL: the call allocates it */
    const struct nl_plan *plan; /* for kernels; the call sets it */
} nl_forward_args;

/* dx_i = r * (g_i - mean(g) - xhat_i * mean(g * xhat)) with g = gamma * dy, the means over the
 * group; RMSNorm has no mean(g) term. dgamma = sum(dy * xhat), dbeta = sum(dy) over the groups
 * (BatchNorm: over the channel). docs/backward.md derives this. With a residual, dx is the gradient
 * of x and of residual alike. Of the gated layers docs/backward.md has the formulas. Allowed in place:
 * dx == dy, dx == dresidual, dgate == gate. dgamma and dbeta are
 * set, not added to. Pointers are aligned as in nl_forward_args. */
typedef struct nl_backward_args {
    const void *x, *dy;    /* dtype [n][c][s]; x is what was normalized: with a residual, the sum */
    const void *dresidual; /* dtype [n][c], or NULL; row norms only: the gradient that reaches
                              residual_out past this layer, added to dx before that is rounded */
    const void *gate;      /* as in forward */
    const void *gamma;     /* parameters [c], or NULL for a gain of one */
    const float *mean;     /* [n] or BatchNorm [c], as saved by forward; NULL for RMSNorm */
    const float *rstd;     /* [n] or BatchNorm [c], as saved by forward */
    void *dx;              /* dtype [n][c][s] */
    void *dgate;           /* dtype [n][c], or NULL when not wanted */
    void *dgamma, *dbeta; /* parameters [c], or NULL when not wanted; dbeta: LayerNorm and BatchNorm
                              only */
    void *scratch;        /* as in nl_forward_args */
    const struct nl_plan *plan;
} nl_backward_args;

/* How the statistics are computed, which decides the bound on the error (docs/verification.md). In
 * backward, TWO_PASS takes those forward saved, with a rounded mean; ONE_PASS too, but sums g and
 * g * x, not g * xhat, so its error grows with mean/sigma; REFINED recomputes them. All but SHIFTED
 * and REFINED may normalize as x * a + b, with one a and b for each row or channel. */
typedef enum nl_method {
    NL_ONE_PASS, /* E[x^2] - E[x]^2: error grows with (mean/sigma)^2 */
    NL_SHIFTED,  /* the same on x - K, K near the mean: error grows with ((K - mean)/sigma)^2 */
    NL_WELFORD,  /* running update: error grows with mean/sigma */
    NL_TWO_PASS, /* the rounded mean, then the squares around it: error grows with mean/sigma */
    NL_REFINED   /* two-pass, first on x minus one of the values, then corrected by the mean's
                    rounding error: error does not grow */
} nl_method;

#define NL_BIT(e) (1u << (e))

/* A size at which an implementation changes what it does: a piece, a block of rows, a tile, what
 * its registers hold. The built-in suite has cases just below, at and above each. */
typedef enum nl_axis {
    NL_OF_N,
    NL_OF_C,
    NL_OF_S,
    NL_OF_COLUMNS, /* c * s */
    NL_OF_GROUP,   /* n * s: the values of a channel */
    NL_OF_ELEMENTS /* n * c * s */
} nl_axis;

typedef struct nl_threshold {
    nl_axis axis;
    size_t size;
} nl_threshold;

/* An implementation: the last lines of each kernel file fill one in. */
typedef struct nl_impl {
    const char *name;             /* path of the file without ".c": "rmsnorm/naive" */
    const char *isa;              /* the instruction set it needs: "c" for plain C */
    const char *about;            /* a description in one line */
    unsigned ops, passes, dtypes; /* what it takes: NL_BIT() of each nl_op, nl_pass, nl_dtype */
    size_t c_max;                 /* the largest c it takes, for what its registers hold; 0: any */
    const nl_threshold *thresholds; /* up to a size of 0; NULL: none */
    bool threaded;                  /* uses more than one thread when given them */
    bool strided;                   /* takes rows that do not follow each other, as its plan's */
    bool streams;                   /* stores y or dx past the caches */
    bool heeds_stores;              /* does that where its plan says so */
    bool range_safe;                /* right even where a sum of squares leaves float's range */
    bool demonstration;             /* made to show an error: measured, held to no bound */
    nl_method method;
    int lanes; /* independent accumulators in each sum: more of them, less error */
    void (*forward)(const nl_problem *, const nl_forward_args *, int threads);
    void (*backward)(const nl_problem *, const nl_backward_args *, int threads);
    size_t (*scratch)(const nl_problem *); /* bytes, or NULL when none are ever needed */
} nl_impl;

/* The strides of a problem, with their zeros filled in. */
typedef struct nl_rows {
    size_t inner;
    unsigned long long reciprocal; /* 2^64 / inner, rounded up; 0: no inner dimension */
    nl_stride x, dy, residual, y, residual_out;
} nl_rows;

/* How a call runs: decided once, by the two functions below, from the problem, the implementation,
 * the threads and the caches. */
typedef struct nl_plan {
    int threads;         /* what the kernel gets as its last argument */
    bool streams;        /* an implementation that heeds this stores past the caches */
    bool pieces;         /* of a threaded row norm: threads share each row, as rows are fewer */
    const nl_impl *each; /* of a threaded row norm: what a thread runs on its rows */
    size_t first;        /* and the first of these: row r of the problem is row first + r */
    size_t first_cache;  /* bytes of a core's first-level data cache */
    const nl_rows *rows; /* where rows begin; NULL: they follow each other */
} nl_plan;

/* Compute a problem, with nl_best() if impl is NULL, on at most `threads` >= 1 threads: below the
 * fork threshold (see nl_best()) the threaded rungs of optimized/ use one, and none uses more than
 * max(64, 4 for each processor) or than the process can start (a child of fork(): one). With impl
 * NULL, one also where timing finds it as fast, with the rung and so the bits of `threads`; another
 * `threads` may mean another rung, and dgamma and dbeta that differ in their last bits. On any
 * status but NL_OK nothing is written, and nl_message() names the error. n = 0 is NL_OK and
 * accesses nothing. */
NL_API nl_status nl_forward(const nl_impl *impl, const nl_problem *p, const nl_forward_args *a,
                            int threads);
NL_API nl_status nl_backward(const nl_impl *impl, const nl_problem *p, const nl_backward_args *a,
                             int threads);

/* The error of the last failed call in this thread; "" before any. Also a note on a call that
 * succeeded: that it got fewer threads, or (once) that the file of NL_TUNING cannot be used. */
NL_API const char *nl_message(void);

/* The table of implementations: nl_impl_at(0) to nl_impl_at(nl_impl_count() - 1), then NULL. */
NL_API size_t nl_impl_count(void);
NL_API const nl_impl *nl_impl_at(size_t i);

/* By name and ISA ("c", ...; NULL: any that runs here); NULL when there is none, or no name. */
NL_API const nl_impl *nl_find(const char *name, const char *isa);

/* Does impl take this op, pass, dtype and c? And does this processor run the ISA (NULL: no)? */
NL_API bool nl_accepts(const nl_impl *impl, const nl_problem *p);
NL_API bool nl_isa_runs(const char *isa);

/* The widest ISA that runs here: "c", "sse2", "avx2", "avx512", "neon". The environment variable
 * NL_ISA, read once, caps it. */
NL_API const char *nl_isa_best(void);

/* For one implementation, and for nl_best() on one machine, a row of a row norm has the same bits in
 * y and dx whatever n, its place, the threads, the alignment, the neighbours and the stores; but for
 * the payload of a NaN.
 *
 * The recommended implementation for the problem and that many threads, on the widest ISA that runs
 * here; nl_forward(NULL, ...) runs it. NULL when none accepts the problem. Small problems get one
 * that wakes no threads, and outputs that do not fit the caches one that streams (or as p->stores
 * says). The thresholds are defaults, or those that `normlab tune` measured on this machine and
 * wrote into the file that the environment variable NL_TUNING names. */
NL_API const nl_impl *nl_best(const nl_problem *p, int threads);

/* Bytes of scratch that the implementation needs for the problem, often 0. */
NL_API size_t nl_scratch_bytes(const nl_impl *impl, const nl_problem *p);

/* The number of threads available; always 1 when the library was built without OpenMP. */
NL_API int nl_max_threads(void);
NL_API bool nl_has_openmp(void);

/* "layernorm", "forward", "f32"; "?" if unknown. And the bytes of one stored element. */
NL_API const char *nl_op_name(nl_op op);
NL_API const char *nl_pass_name(nl_pass pass);
NL_API const char *nl_dtype_name(nl_dtype dtype);
NL_API size_t nl_dtype_bytes(nl_dtype dtype);

#ifdef __cplusplus
}
#endif
