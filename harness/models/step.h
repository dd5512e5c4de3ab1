/* Steps of real models: a transformer block and a GRU. OpenBLAS computes the matrix products, and
 * this library the norms, on one thread, in f32. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Shared by the transformer block and the GRU: the tensors of one step, and its norms, which are
 * timed inside the step. */

/* A block: x <- x + attention(norm(x)), x <- x + ffn(norm(x)), without embeddings, dropout and
 * rotary positions. heads = 0: a GRU with a norm per gate and an input as wide as its state. */
typedef struct step_shape {
    const char *name;
    size_t width, heads, kv_heads, ffn;
    bool gated; /* the ffn: silu(a) * b as in Llama, or gelu(a) */
} step_shape;

typedef struct norm_place { /* the parameters and statistics of one norm */
    float *gamma, *beta, *mean, *rstd, *dgamma, *dbeta;
} norm_place;

enum { STEP_MATRICES = 6, STEP_NORMS = 3 };

typedef struct step {
    step_shape shape;
    size_t rows, past; /* new tokens, or the GRU's batch; past: earlier tokens in the cache */
    bool training;     /* has memory for the backward pass; then past is 0 */
    nl_op op;          /* layer of the norms: NL_LAYERNORM or NL_RMSNORM */
    bool unfused;      /* forward uses the unfused rung instead of nl_best() */
    double norm_ns;    /* time spent in norms; the caller resets it */
    float *x, *h, *y;  /* [rows][width]: input, the GRU's state, output */
    float *dy, *dx, *dh;
    float *weights[STEP_MATRICES], *dw; /* dw: the gradient of one matrix at a time */
    norm_place norms[STEP_NORMS];
    float *kept[12], *work[4]; /* saved by forward for backward; working memory */
    float *room;
    size_t used; /* floats of `room` that are in use */
} step;

/* Takes the next `count` floats of s->room and counts them in s->used; NULL: room is still NULL. */
float *step_take(step *s, size_t count);

void step_norm(step *s, size_t which, const float *x, float *y);
void step_norm_backward(step *s, size_t which, const float *x, const float *dy, float *dx);

/* The two kinds of steps, one file each. The layout takes the memory of forward and backward. */
void block_layout(step *s);
void block_forward(step *s);
void block_backward(step *s);
void gru_layout(step *s);
void gru_forward(step *s);
void gru_backward(step *s);

/* The bytes that step_make allocates. */
size_t step_bytes(const step_shape *shape, size_t rows, size_t past, bool training);

/* Allocates a step, with random weights, inputs and cache. False: out of memory. */
bool step_make(step *s, const step_shape *shape, size_t rows, size_t past, bool training);
void step_free(step *s);

/* Forward computes y from x. Backward, called after forward, computes dx and the gradients from dy;
 * dw has only the gradient of the last matrix. */
void step_forward(step *s);
void step_backward(step *s);
