/* idea   The formula as it stands, one channel at a time: the mean over samples and positions, the
 *        variance around it, then every element's difference divided by the root.
 * gain   None; every other rung is compared with this rung.
 * fails  With s = 1 the values of a channel lie c elements apart: three passes per channel, each of
 *        which uses one element of every cache line.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void batchnorm(nl_view v) {
    float m = (float)(v.n * v.s);
    for (size_t j = 0; j < v.c; j++) {
        float mean = 0;
        for (size_t i = 0; i < v.n; i++)
            for (size_t k = 0; k < v.s; k++) mean += nl_x(v, nl_at(v, i, j, k));
        mean /= m;

        float var = 0;
        for (size_t i = 0; i < v.n; i++)
            for (size_t k = 0; k < v.s; k++) {
                float d = nl_x(v, nl_at(v, i, j, k)) - mean;
                var += d * d;
            }
        var /= m;

        for (size_t i = 0; i < v.n; i++)
            for (size_t k = 0; k < v.s; k++) {
                float d = nl_x(v, nl_at(v, i, j, k)) - mean;
                nl_put(v, nl_at(v, i, j, k), j, d / sqrtf(var + v.eps));
            }
        nl_keep_channel(v, j, mean, var, 1 / sqrtf(var + v.eps));
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, batchnorm);
}

NL_IMPL(.about = "one channel at a time, the formula as it stands", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
