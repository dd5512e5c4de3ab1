/* A small network that learns, in float: layers of x <- silu(norm(x W + b)), then softmax. What the
 * study `ablation` trains; its gradients are compared with difference quotients in tests/ablation.c.
 * SPDX-License-Identifier: MIT */
#ifndef NL_MLP_H
#define NL_MLP_H

#include <stdbool.h>
#include <stddef.h>

/* What a norm does to a row: nothing; subtract the mean; divide by the root mean square (RMSNorm); both
 * (LayerNorm). None has gain or bias, so that they differ in nothing else. */
typedef enum mlp_norm { MLP_NOTHING, MLP_RECENTRE, MLP_RESCALE, MLP_FULL, MLP_NORMS } mlp_norm;

typedef struct mlp {
    mlp_norm norm;
    size_t rows, inputs, width, classes,
        layers;                   /* rows: of a batch, at most; layers: the hidden ones */
    size_t count;                 /* of parameters */
    float *parameters, *gradient; /* [count]: W and b of each layer, then of the last */
    float *velocity;              /* [count], of the momentum */
    float *room;                  /* what forward keeps, and working memory */
} mlp;

/* Takes the memory; He's weights of that seed, and b = 0. False: there is none. */
bool mlp_make(mlp *net, unsigned seed);
void mlp_free(mlp *net);

/* Mean cross-entropy of a batch of x [rows][inputs] and its labels; how many it gets wrong, too, unless
 * NULL; and the gradient. The loss is not finite when the network has come apart. */
double mlp_loss(mlp *net, size_t rows, const float *x, const unsigned char *labels, size_t *wrong);
double mlp_gradient(mlp *net, size_t rows, const float *x, const unsigned char *labels);

/* A step of gradient descent with momentum. */
void mlp_step(mlp *net, float rate, float momentum);

#endif
