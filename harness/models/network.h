/* A stack of random layers with this library's norms, forward and backward, for the study `depth`.
 * The tests compare its gradients with finite differences. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* One layer: PLAIN x <- relu(norm(W x)); PRE_NORM x <- x + V relu(W norm(x));
 * POST_NORM x <- norm(x + V relu(W x)). */
typedef enum wiring { PLAIN, PRE_NORM, POST_NORM, WIRINGS } wiring;

typedef struct network {
    wiring wiring;
    bool has_norm;
    nl_op norm;
    float stretch;              /* factor of all weights; 1: He's initialization */
    size_t layers, width, rows; /* the width is a multiple of 4 */
    const float *normal;        /* [2 layers][width][width] standard normal numbers */
} network;

/* The rms of the activations, and of their gradients, before every layer and after the last,
 * [layers + 1]; rms of the gradient of each layer's last matrix (W if PLAIN, else V), [layers]. */
typedef struct network_sizes {
    double *activation, *gradient, *weights;
} network_sizes;

/* Computes y from x [rows][width], and dx from g, the gradient of y. False: out of memory. */
bool network_run(const network *net, const float *x, const float *g, float *y, float *dx,
                 network_sizes sizes);
