/* The functions of one ISA, in loops that compilers vectorize. The build compiles this file once
 * for each ISA, and defines POINTWISE_LAYER (layer_avx2) and POINTWISE_SQUARES.
 * SPDX-License-Identifier: MIT */
#include "claims/pointwise.h"
#include "kernel.h"

void POINTWISE_LAYER(const pointwise_job *j, pointwise_kind f);
float POINTWISE_SQUARES(const float *x, size_t c);

/* Rounds once if the processor has fused multiply-add, as vfma() of vec.h does. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

/* x p(x^2) / q(x^2); beyond `end`, 1 or -1. The coefficients minimize the largest relative error on
 * [0, end], which is a third of a unit. */
typedef struct quotient {
    float end, p[6], q[6];
} quotient;

static const quotient quotients[] = {
    [POINTWISE_TANH] = {8.7f,
                        {0.999999985f, 0.134004775f, 3.51875655e-3f, 2.09940267e-5f,
                         1.38978755e-8f},
                        {1, 0.467337977f, 2.59649423e-2f, 3.32366796e-4f, 7.99663264e-7f}},
    [POINTWISE_ERF] = {3.92f,
                       {1.12837915f, 0.190406312f, 5.27486502e-2f, 3.76559265e-3f, 2.84879108e-4f,
                        2.05004985e-6f},
                       {1, 0.502075943f, 0.114108999f, 1.4969175e-2f, 1.16252363e-3f,
                        3.80911351e-5f}},
};

NL_INLINE float polynomial(const float *k, int last, float s) {
    float v = k[last];
    for (int i = last - 1; i >= 0; i--) v = FMA(v, s, k[i]);
    return v;
}

NL_INLINE void rows(const pointwise_job *j, const quotient f, int last) {
    for (size_t r = 0; r < j->n; r++) {
        const float *restrict x = j->x + r * j->c, *restrict gamma = j->gamma,
                              *restrict beta = j->beta;
        float *restrict y = j->y + r * j->c;
        for (size_t i = 0; i < j->c; i++) {
            float v = POINTWISE_ALPHA * x[i];
            v = v > f.end ? f.end : v;
            v = v < -f.end ? -f.end : v;
            const float s = v * v;
            v = v * polynomial(f.p, last, s) / polynomial(f.q, last, s);
            y[i] = FMA(v, gamma[i], beta[i]);
        }
    }
}

void POINTWISE_LAYER(const pointwise_job *j, pointwise_kind f) {
    if (f == POINTWISE_TANH)
        rows(j, quotients[POINTWISE_TANH], 4);
    else
        rows(j, quotients[POINTWISE_ERF], 5);
}

float POINTWISE_SQUARES(const float *x, size_t c) {
    enum { LANES = 64 };
    float sums[LANES] = {0}, sum = 0;
    for (size_t i = 0; i + LANES <= c; i += LANES)
        for (size_t k = 0; k < LANES; k++) sums[k] = FMA(x[i + k], x[i + k], sums[k]);
    for (size_t i = c / LANES * LANES; i < c; i++) sum = FMA(x[i], x[i], sum);
    for (size_t k = 0; k < LANES; k++) sum += sums[k];
    return sum;
}
