/* A small network, in float: layers of x <- silu(norm(x W + b)), then softmax. The studies
 * `ablation` and `training` train it; tests/models/ablation.c compares its gradients with
 * difference quotients.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The norm of a network: none; subtract the mean of a row; divide by the row's root mean square
 * (RMSNorm); both (LayerNorm); BatchNorm; or tanh(2 z), which is no norm. The norms have no gain
 * and no bias, so that the networks differ only in the norm. */
typedef enum mlp_norm {
    MLP_NOTHING,
    MLP_RECENTRE,
    MLP_RESCALE,
    MLP_FULL,
    MLP_BATCH,
    MLP_TANH,
    MLP_NORMS
} mlp_norm;

typedef struct mlp {
    mlp_norm norm;
    bool running; /* BatchNorm uses its running statistics, as at inference */
    float eps;
    size_t rows, inputs, width, classes; /* rows: the largest batch */
    size_t layers;                       /* hidden layers */
    size_t count;                        /* number of parameters */
    float *parameters, *gradient; /* [count]: W and b of each layer, from the first to the last */
    float *velocity;              /* [count]: the velocity of the momentum method */
    float *room;                  /* the activations, and working memory */
} mlp;

/* Allocates the network, with He's weights from the seed and b = 0. False: out of memory. */
bool mlp_make(mlp *net, unsigned seed);
void mlp_free(mlp *net);

/* The mean cross-entropy of a batch x [rows][inputs] with its labels. mlp_loss() also counts wrong
 * answers (wrong may be NULL); mlp_gradient() also computes the gradient. The loss of a diverged
 * network is not finite. */
double mlp_loss(mlp *net, size_t rows, const float *x, const unsigned char *labels, size_t *wrong);
double mlp_gradient(mlp *net, size_t rows, const float *x, const unsigned char *labels);

void mlp_step(mlp *net, float rate, float momentum);

/* The number of parameters of the layers that a norm follows: these parameters come first. */
size_t mlp_hidden(const mlp *net);

/* Drawn digits, the same on every machine. */
enum { DIGIT_SIDE = 12, DIGIT_POINTS = DIGIT_SIDE * DIGIT_SIDE, DIGITS = 10 };
enum { LEARNT = 2048, HELD_OUT = 256 }; /* pictures for training, then pictures for testing */

typedef struct digits {
    float *x; /* [LEARNT + HELD_OUT][DIGIT_POINTS] */
    unsigned char *labels;
} digits;

/* False: out of memory. */
bool digits_make(digits *all);
void digits_free(digits *all);

/* The points of picture i. */
float *digit(const digits *all, size_t i);
