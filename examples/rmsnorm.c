/* RMSNorm forward for --load, in C with normlab_kernel.h alone:
 *
 *     cc -O2 -ffp-contract=off -shared -fPIC -Iinclude examples/rmsnorm.c -lm -o rmsnorm.so
 *
 * SPDX-License-Identifier: MIT */
#include "normlab_kernel.h"

#include <math.h>

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    const float *gamma = a->gamma;
    for (size_t r = 0; r < p->n; r++) {
        const float *x = (const float *)a->x + r * p->c;
        const float *residual = a->residual ? (const float *)a->residual + r * p->c : NULL;
        float *residual_out = a->residual_out ? (float *)a->residual_out + r * p->c : NULL;
        float *y = (float *)a->y + r * p->c;

        float squares = 0;
        for (size_t i = 0; i < p->c; i++) {
            float v = residual ? x[i] + residual[i] : x[i];
            squares += v * v;
        }
        float rstd = 1 / sqrtf(squares / (float)p->c + p->eps);

        for (size_t i = 0; i < p->c; i++) { /* y may alias x, and residual_out residual */
            float v = residual ? x[i] + residual[i] : x[i];
            if (residual_out) residual_out[i] = v;
            y[i] = gamma ? v * rstd * gamma[i] : v * rstd;
        }
        if (a->rstd) a->rstd[r] = rstd;
    }
}

static const nl_impl rmsnorm = {.name = "c/rmsnorm",
                                .isa = "c",
                                .about = "the formula in C",
                                .ops = NL_BIT(NL_RMSNORM),
                                .passes = NL_BIT(NL_FORWARD),
                                .dtypes = NL_BIT(NL_F32),
                                .method = NL_TWO_PASS,
                                .lanes = 1,
                                .forward = forward};

int normlab_kernel_abi(void) {
    return NL_KERNEL_ABI;
}

const nl_impl *normlab_kernel(size_t i) {
    return i == 0 ? &rmsnorm : NULL;
}
