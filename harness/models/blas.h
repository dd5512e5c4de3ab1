/* Matrix products by OpenBLAS, loaded at run time: nothing is built or linked with it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Loads OpenBLAS for one thread. False: `why` has the reason. blas_version(): its configuration. */
bool blas_open(const char **why);
const char *blas_version(void);

/* A matrix stored by rows that are ld numbers apart; transposed: represents its transpose. */
typedef struct matrix {
    const float *at;
    size_t ld;
    bool transposed;
} matrix;

/* c [m][n] = alpha * a [m][k] * b [k][n] + beta * c */
void blas_multiply(size_t m, size_t n, size_t k, float alpha, matrix a, matrix b, float beta,
                   float *c, size_t ldc);
