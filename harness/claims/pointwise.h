/* Layers without statistics that were proposed as replacements of norms: y = gamma * f(alpha * x) +
 * beta. f is tanh in Dynamic Tanh (arXiv 2503.10622) and erf in Derf (arXiv 2512.10938). These
 * layers compute in f32 and are compiled once for each ISA. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* alpha is 1/2, its first value in training. POINTWISE_UNITS: the largest error of f, in units of
 * 2^-24. */
#define POINTWISE_ALPHA 0.5f
#define POINTWISE_UNITS 8

typedef enum pointwise_kind { POINTWISE_TANH, POINTWISE_ERF } pointwise_kind;

typedef struct pointwise_job {
    const float *x, *gamma, *beta;
    float *y;
    size_t n, c;
} pointwise_job;

/* The functions of one ISA; squares() is the sum of c squares. */
typedef struct pointwise_isa {
    const char *name;
    void (*layer)(const pointwise_job *j, pointwise_kind f);
    float (*squares)(const float *x, size_t c);
} pointwise_isa;

/* Finds the functions of plain C, or of the widest ISA that runs here. */
const pointwise_isa *pointwise_find(bool plain);
