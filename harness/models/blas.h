/* Matrix products of OpenBLAS, which is looked for when the program runs: nothing here is built or
 * linked with it. SPDX-License-Identifier: MIT */
#ifndef NL_BLAS_H
#define NL_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* On one thread from then on. False: there is none, and why says so. The version is OpenBLAS's own. */
bool blas_open(const char **why);
const char *blas_version(void);

/* A matrix by rows, which lie ld apart; turned: its transpose is meant. */
typedef struct matrix {
    const float *at;
    size_t ld;
    bool turned;
} matrix;

/* c [m][n] = alpha * a [m][k] * b [k][n] + beta * c */
void blas_multiply(size_t m, size_t n, size_t k, float alpha, matrix a, matrix b, float beta,
                   float *c, size_t ldc);

#endif
