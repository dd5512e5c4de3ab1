/* normlab: BatchNorm, LayerNorm, RMSNorm, Qwen2RMSNorm and gated RMSNorm on the CPU. Users of the
 * library include only this header.
 *
 * A *problem* describes the computation; an *implementation* is a way to compute it. Pick an
 * implementation by name with nl_find(), or pass NULL and let nl_best() choose:
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

/* The layers, with r = rstd. mean and var belong to a group: a row, or all values of a channel.
 *   LayerNorm, BatchNorm   y = gamma * (x - mean) * r + beta,  r = 1 / sqrt(var + eps), var biased
 *   RMSNorm                y = gamma * x * r,                  r = 1 / sqrt(mean(x^2) + eps)
 *   Qwen2RMSNorm           y = (1 + w) * x * r,                w passed as gamma
 *   gated RMSNorm          y = gamma * x * r * silu(gate),     silu(z) = z / (1 + exp(-z))
 *   gate-first RMSNorm     y = RMSNorm(x * silu(gate))
 * In Hugging Face transformers our Qwen2RMSNorm is GemmaRMSNorm and Qwen3NextRMSNorm, while the
 * class named Qwen2RMSNorm is plain RMSNorm (docs/naming.md); gated RMSNorm is
 * Qwen3NextRMSNormGated. Mamba-2's norm applies the gate first, unless norm_before_gate is set.
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

/* INFERENCE is BatchNorm on its running statistics. All other layers, the row norms, have no such
 * pass: at inference they use FORWARD. */
typedef enum nl_pass { NL_FORWARD, NL_BACKWARD, NL_INFERENCE } nl_pass;

/* The storage type of x, residual, gate, y, residual_out and their gradients: IEEE binary32, IEEE
 * binary16 or bfloat16. Arithmetic is in float for all three, except in demonstrations. */
typedef enum nl_dtype { NL_F32, NL_F16, NL_BF16 } nl_dtype;

/* Where values are rounded to the storage type (D); xhat is the normalized value in float.
 *   NL_CAST_LAST            D(xhat * gamma + beta)       PyTorch, OLMo2, Gemma, Qwen3-Next
 *   NL_CAST_BEFORE_WEIGHT   D(D(xhat) * gamma + beta)    HF Llama and Qwen2, vLLM
 * In gated RMSNorm the argument of the outer D is also multiplied by silu(gate), in float. */
typedef enum nl_casting { NL_CAST_LAST, NL_CAST_BEFORE_WEIGHT } nl_casting;

/* FLOAT normalizes x + residual as a float (FlashInfer's fused kernels, nano-vllm). ROUNDED first
 * rounds the sum to dtype, as if stored and read (vLLM's kernels, Hugging Face, PyTorch eager). */
typedef enum nl_sum { NL_SUM_FLOAT, NL_SUM_ROUNDED } nl_sum;

/* How y or dx is stored. STREAMING bypasses the caches, which saves memory traffic; CACHED leaves
 * the output in the caches for its next reader; AUTO decides by size (nl_best()). In calls in
 * place (y is x, or dx is dy or dresidual) AUTO and CACHED become IN_PLACE, which differs from
 * CACHED only for f32 rows in forward: nl_best() then expects one tensor in the caches, not two. */
typedef enum nl_stores {
    NL_STORES_AUTO,
    NL_STORES_CACHED,
    NL_STORES_STREAMING,
    NL_STORES_IN_PLACE
} nl_stores;

/* BAD_ARGUMENT: the problem or a buffer is invalid. UNSUPPORTED: the implementation does not take
 * the problem, or the processor lacks its ISA. OUT_OF_MEMORY: scratch could not be allocated. */
typedef enum nl_status { NL_OK, NL_BAD_ARGUMENT, NL_UNSUPPORTED, NL_OUT_OF_MEMORY } nl_status;

/* The positions of a tensor's rows, in elements. Row r begins at
 *     r / inner * outer + r % inner * row
 * with the `inner` of the nl_problem or, if inner is 0, at r * row. A field that is 0 means
 * contiguous rows: row = c, outer = inner * row. To normalize the heads of a packed tensor
 * [tokens][heads + others][c]: n = tokens * heads, inner = heads, outer = (heads + others) * c. */
typedef struct nl_stride {
    size_t row, outer;
} nl_stride;

/* Tensors are [n][c][s], with s contiguous. In the row norms s is 1: n rows of c features, with
 * statistics per row. BatchNorm has statistics per channel, over n and s: an (N, C) tensor is
 * [N][C][1], an NCHW tensor [N][C][H*W]. */
typedef struct nl_problem {
    nl_op op;
    nl_pass pass;
    nl_dtype dtype;
    nl_casting casting;
    size_t n, c, s;
    float eps;               /* >= 0, inside the root, added to the variance or mean square */
    float momentum;          /* BatchNorm: weight of the NEW value in a running statistic, 0..1 */
    bool biased_running_var; /* the variance for running_var divides by n*s (true, as in Flax) or by
                                n*s - 1 (false, as in PyTorch) */
    nl_stores stores;        /* used by nl_best() and by implementations with heeds_stores; other
                                implementations have fixed stores */
    nl_dtype parameters;     /* storage type of gamma, beta, dgamma and dbeta: NL_F32, or dtype.
                                Arithmetic is in float; a gradient is rounded once */
    nl_sum sum;              /* how x + residual is normalized */
    /* These fields are for row norms with strided rows. The rows of a tensor must not overlap. */
    size_t inner; /* see nl_stride; 0, or a divisor of n */
    nl_stride x_stride, dy_stride;
    nl_stride residual_stride;     /* stride of residual and dresidual, or of gate */
    nl_stride y_stride;            /* of y and dx */
    nl_stride residual_out_stride; /* stride of residual_out, or of dgate */
} nl_problem;

/* An output may overwrite an input only in place: y == x or residual_out == residual. Any other
 * overlap of an output with another buffer is NL_BAD_ARGUMENT. A misaligned pointer is also
 * NL_BAD_ARGUMENT: arrays are aligned to their elements (4 or 2 bytes), scratch to 64 bytes.
 * Kernels always get gamma, beta, dgamma and dbeta as floats, and `parameters` as NL_F32. */
typedef struct nl_forward_args {
    const void *x;        /* dtype [n][c][s] */
    const void *residual; /* dtype [n][c], or NULL; row norms without a gate: added to x first */
    const void *gate;     /* dtype [n][c]; only for the two gated layers */
    const void *gamma;    /* parameters [c], or NULL for a gain of one (for Qwen2RMSNorm: w = 0) */
    const void *beta;     /* parameters [c], or NULL for zero; LayerNorm and BatchNorm only */
    void *y;              /* dtype [n][c][s] */
    void *residual_out;   /* dtype [n][c], or NULL: x + residual rounded to dtype */
    float *mean;          /* saved for backward: [n], BatchNorm [c], or NULL. Not for RMSNorm */
    float *rstd;          /* saved for backward: [n], BatchNorm [c], or NULL */
    float *running_mean;  /* BatchNorm [c]: updated by FORWARD unless NULL, read by INFERENCE */
    float *running_var;   /* BatchNorm [c]: used like running_mean; does not include eps */
    void *scratch;        /* nl_scratch_bytes() of working memory; NULL: the call allocates it */
    const struct nl_plan *plan; /* set by nl_forward(), for the kernel */
} nl_forward_args;

/* dx_i = r * (g_i - mean(g) - xhat_i * mean(g * xhat)), with g = gamma * dy and means over the
 * group; RMSNorm has no mean(g) term. dgamma = sum(dy * xhat) and dbeta = sum(dy), over all rows
 * (BatchNorm: over the channel). docs/backward.md derives these formulas, and the formulas of the
 * gated layers. With a residual, dx is the gradient of both x and residual. dgamma and dbeta are
 * overwritten, not accumulated (n = 0: not accessed). In place, dx == dy, dx == dresidual and
 * dgate == gate are allowed. Pointers are aligned as in nl_forward_args. */
typedef struct nl_backward_args {
    const void *x, *dy;    /* dtype [n][c][s]; with a residual, x is x + residual of forward */
    const void *dresidual; /* dtype [n][c], or NULL; only for row norms without a gate. The gradient
                              of residual_out, which is added to dx before dx is rounded */
    const void *gate;      /* as in forward */
    const void *gamma;     /* parameters [c], or NULL for a gain of one */
    const float *mean;     /* [n] or BatchNorm [c], as saved by forward; NULL for RMSNorm */
    const float *rstd;     /* [n] or BatchNorm [c], as saved by forward */
    void *dx;              /* dtype [n][c][s] */
    void *dgate;           /* dtype [n][c], or NULL if not wanted */
    void *dgamma, *dbeta; /* parameters [c], or NULL when not wanted; dbeta: LayerNorm and BatchNorm
                              only */
    void *scratch;        /* as in nl_forward_args */
    const struct nl_plan *plan;
} nl_backward_args;

/* How the statistics are computed. The method decides the error bound (docs/verification.md). In
 * backward REFINED recomputes the statistics; TWO_PASS and ONE_PASS use the saved, rounded mean.
 * ONE_PASS sums g * x instead of g * xhat, so its error grows with mean/sigma. All methods but
 * SHIFTED and REFINED may normalize as x * a + b, with one a and b for each row or channel. */
typedef enum nl_method {
    NL_ONE_PASS, /* E[x^2] - E[x]^2: error grows with (mean/sigma)^2 */
    NL_SHIFTED,  /* one-pass on x - K, K near the mean: error grows with ((K - mean)/sigma)^2 */
    NL_WELFORD,  /* running update: error grows with mean/sigma */
    NL_TWO_PASS, /* the rounded mean, then the squares around it: error grows with mean/sigma */
    NL_REFINED   /* two-pass on x minus one of its values, with a correction of the mean's rounding
                    error: error does not grow */
} nl_method;

#define NL_BIT(e) (1u << (e))

/* A size at which an implementation switches to other code, for example the size of a piece, a
 * block of rows or a tile. The suite tests just below, at and above each threshold. */
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

/* An implementation. NL_IMPL(), at the end of each kernel file, fills in an nl_impl. */
typedef struct nl_impl {
    const char *name;               /* path of the file without ".c": "rmsnorm/naive" */
    const char *isa;                /* the necessary instruction set: "c" for plain C */
    const char *about;              /* a description in one line */
    unsigned ops, passes, dtypes;   /* accepted: NL_BIT() of each nl_op, nl_pass, nl_dtype */
    size_t c_max;                   /* the largest accepted c; 0: any c */
    const nl_threshold *thresholds; /* ended by a size of 0; NULL: none */
    bool threaded;                  /* uses several threads if the call allows them */
    bool strided;                   /* accepts strided rows, given by its plan */
    bool streams;                   /* always stores y or dx past the caches */
    bool heeds_stores;              /* stores past the caches if its plan says so */
    bool range_safe;                /* correct even if a sum of squares leaves float's range */
    bool demonstration;             /* made to show an error: measured, but with no error bound */
    nl_method method;
    int lanes; /* independent accumulators in each sum; more accumulators give less error */
    void (*forward)(const nl_problem *, const nl_forward_args *, int threads);
    void (*backward)(const nl_problem *, const nl_backward_args *, int threads);
    size_t (*scratch)(const nl_problem *); /* bytes of scratch; NULL: never needs scratch */
} nl_impl;

/* The strides of a problem, with zeros replaced by their defaults. */
typedef struct nl_rows {
    size_t inner;
    unsigned long long reciprocal; /* 2^64 / inner, rounded up; 0: no inner dimension */
    nl_stride x, dy, residual, y, residual_out;
} nl_rows;

/* How a call runs. nl_forward() and nl_backward() make the plan once per call, from the problem,
 * the implementation, the threads and the caches. */
typedef struct nl_plan {
    int threads;         /* upper limit of the kernel's last argument */
    bool streams;        /* implementations with heeds_stores store past the caches */
    bool pieces;         /* threaded row norm: more threads than rows, so threads share rows */
    const nl_impl *each; /* threaded row norm: implementation for each thread's rows */
    size_t first;        /* strided: row 0 of the kernel's problem is row `first` of the tensors */
    size_t first_cache;  /* bytes of a core's first-level data cache */
    const nl_rows *rows; /* strides of the rows; NULL: rows are contiguous */
} nl_plan;

/* Compute a problem on at most `threads` >= 1 threads, with nl_best() if impl is NULL. No call uses
 * more than max(64, 4 per processor) threads, or more than the process can start (a child of
 * fork(): one). Below the fork threshold (see nl_best()) the threaded implementations of optimized/
 * use one thread. With impl NULL a call also uses one thread if timing shows that more save
 * little; implementation and bits do not change. Another value of `threads` may select another
 * implementation, whose dgamma and dbeta differ in their last bits. If the status is not NL_OK,
 * nothing is written, and nl_message() names the error. n = 0 is NL_OK and accesses nothing. */
NL_API nl_status nl_forward(const nl_impl *impl, const nl_problem *p, const nl_forward_args *a,
                            int threads);
NL_API nl_status nl_backward(const nl_impl *impl, const nl_problem *p, const nl_backward_args *a,
                             int threads);

/* The error of this thread's last failed call; "" before any failure. A successful call may leave a
 * note: it got fewer threads, or (once) the file in NL_TUNING cannot be used. */
NL_API const char *nl_message(void);

/* The table of implementations: nl_impl_at(0) to nl_impl_at(nl_impl_count() - 1), then NULL. */
NL_API size_t nl_impl_count(void);
NL_API const nl_impl *nl_impl_at(size_t i);

/* Finds an implementation by name and ISA (NULL: the widest that runs here), or returns NULL. */
NL_API const nl_impl *nl_find(const char *name, const char *isa);

/* Does impl accept p's op, pass, dtype, c and strides? Does isa (false for NULL) run here? */
NL_API bool nl_accepts(const nl_impl *impl, const nl_problem *p);
NL_API bool nl_isa_runs(const char *isa);

/* The widest ISA that runs here: "c", "sse2", "avx2", "avx512", "neon". The environment variable
 * NL_ISA, read once, caps it. */
NL_API const char *nl_isa_best(void);

/* The recommended implementation for the problem and `threads` threads, on the widest ISA that runs
 * here; nl_forward(NULL, ...) runs it. NULL if none accepts the problem. Small problems get an
 * implementation without threads. Outputs above a threshold (docs/tuning.md) get a streaming
 * implementation, unless p->stores decides (in a call in place: NL_STORES_IN_PLACE). The variable
 * NL_TUNING of the environment may name a file written by `normlab tune`, whose thresholds replace
 * the defaults.
 *
 * In row norms the bits of a row's y and dx (except NaN payloads) do not depend on n, row position,
 * other rows, threads, alignment or stores. This holds for one implementation, and for nl_best() on
 * one machine. */
NL_API const nl_impl *nl_best(const nl_problem *p, int threads);

/* Bytes of scratch that the implementation needs for the problem, often 0. */
NL_API size_t nl_scratch_bytes(const nl_impl *impl, const nl_problem *p);

/* The number of threads available; 1 if the library was built without OpenMP. */
NL_API int nl_max_threads(void);
NL_API bool nl_has_openmp(void);

/* Names: "layernorm", "forward", "f32"; "?" if unknown. nl_dtype_bytes(): bytes of an element. */
NL_API const char *nl_op_name(nl_op op);
NL_API const char *nl_pass_name(nl_pass pass);
NL_API const char *nl_dtype_name(nl_dtype dtype);
NL_API size_t nl_dtype_bytes(nl_dtype dtype);

#ifdef __cplusplus
}
#endif
