/* What the transformer block and the GRU share: the tensors of one step, and its norms, every one's time
 * taken where it happens. SPDX-License-Identifier: MIT */
#ifndef NL_STATE_H
#define NL_STATE_H

#include "normlab.h"

/* A block: x <- x + attention(norm(x)), x <- x + ffn(norm(x)); heads = 0: a GRU with a norm for each
 * gate, whose input is as wide as its state. Left out are embeddings, dropout, rotary positions. */
typedef struct step_shape {
    const char *name;
    size_t width, heads, kv_heads, ffn;
    bool gated; /* the ffn: silu(a) * b as in Llama, or gelu(a) */
} step_shape;

typedef struct norm_place { /* one norm: its input stays where it was */
    float *gamma, *beta, *mean, *rstd, *dgamma, *dbeta;
} norm_place;

enum { STEP_MATRICES = 6, STEP_NORMS = 3 };

typedef struct step {
    step_shape shape;
    size_t rows, past; /* tokens now, and those before them in the cache; rows of the GRU's batch */
    bool training;     /* room for the backward pass; past is 0 then */
    nl_op op;          /* of the norms: NL_LAYERNORM or NL_RMSNORM */
    bool unfused;      /* forward with a loop and a buffer for each operation, not with nl_best() */
    double norm_ns;    /* spent in norms, since somebody set it to 0 */
    float *x, *h, *y;  /* [rows][width]: input, the GRU's state, output */
    float *dy, *dx, *dh;
    float *weights[STEP_MATRICES], *dw; /* dw: the gradient of one matrix at a time */
    norm_place norms[STEP_NORMS];
    float *kept[12], *work[4]; /* between the passes; within one */
    float *room;
} step;

/* Gives out so many floats of the step's room: for laying it out. */
typedef float *step_take(void *from, size_t count);

void step_norm(step *s, size_t which, const float *x, float *y);
void step_norm_backward(step *s, size_t which, const float *x, const float *dy, float *dx);

#endif
