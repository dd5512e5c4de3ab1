/* idea   At inference the running statistics are known beforehand: no sums, one reading.
 * gain   The whole layer is one subtraction, two multiplications and one addition per element.
 * fails  Training and inference differ if the running statistics do not match the data.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void batchnorm(nl_view v) {
    float *rstd = v.scratch;
    for (size_t j = 0; j < v.c; j++) rstd[j] = 1 / sqrtf(v.running_var[j] + v.eps);

    for (size_t i = 0; i < v.n; i++)
        for (size_t j = 0; j < v.c; j++)
            for (size_t k = 0; k < v.s; k++) {
                size_t at = nl_at(v, i, j, k);
                nl_put(v, at, j, (nl_x(v, at) - v.running_mean[j]) * rstd[j]);
            }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, batchnorm);
}

static size_t scratch(const nl_problem *p) {
    return p->c * sizeof(float);
}

NL_IMPL(.about = "on the running statistics: no sums at all", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_INFERENCE), .dtypes = NL_ALL_DTYPES, .method = NL_REFINED, .lanes = 1,
        .forward = forward, .scratch = scratch);
