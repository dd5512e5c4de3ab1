/* Random layers on top of each other, forward and backward, with this library's norms: what the study
 * `depth` looks at, and the tests compare with finite differences.
 * SPDX-License-Identifier: MIT */
#ifndef NL_NETWORK_H
#define NL_NETWORK_H

#include "normlab.h"

/* One layer: PLAIN x <- relu(norm(W x)); PRE_NORM x <- x + V relu(W norm(x));
 * POST_NORM x <- norm(x + V relu(W x)). */
typedef enum wiring { PLAIN, PRE_NORM, POST_NORM, WIRINGS } wiring;

typedef struct network {
    wiring wiring;
    bool has_norm; /* false: it is left out */
    nl_op norm;
    float stretch;              /* of all weights; 1: He's initialization */
    size_t layers, width, rows; /* the width a multiple of 4 */
    const float *normal;        /* [2 layers][width][width] standard normal numbers */
} network;

/* x [rows][width] to y, and the gradient g with respect to y to dx. Into activation and gradient,
 * [layers + 1], the rms of both before every layer and at the end. False: out of memory. */
bool network_run(const network *net, const float *x, const float *g, float *y, float *dx,
                 double *activation, double *gradient);

#endif
