/* idea   One loop per operation over the whole tensor, every intermediate stored: an unfused graph
 *        of framework operations runs like this, as in the RMSNorm paper's TensorFlow.
 * gain   None, but it explains RMSNorm's claimed speedups: 7 tensor transfers, 12 in LayerNorm.
 * fails  Slow as soon as the tensor leaves the cache; needs two float copies of it.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    size_t n = v.n, c = v.c;
    float *a = v.scratch, *b = a + n * c, *rstd = b + n * c;

    nl_store_input(v, a); /* add the residual, if any */

    for (size_t i = 0; i < n * c; i++) b[i] = nl_input(v, a, i) * nl_input(v, a, i); /* square */

    for (size_t r = 0; r < n; r++) { /* mean, add eps, rsqrt */
        float sum = 0;
        for (size_t i = 0; i < c; i++) sum += b[r * c + i];
        rstd[r] = 1 / sqrtf(sum / c + v.eps);
        nl_keep(nl_row(v, r), 0, rstd[r]);
    }
    for (size_t r = 0; r < n; r++) /* multiply */
        for (size_t i = 0; i < c; i++) b[r * c + i] = nl_input(v, a, r * c + i) * rstd[r];

    if (v.cast_before_weight) /* cast */
        for (size_t i = 0; i < n * c; i++) b[i] = nl_round(v.t, b[i]);

    for (size_t r = 0; r < n; r++) /* multiply by gamma */
        for (size_t i = 0; i < c; i++)
            nl_store(v.t, v.y, r * c + i, b[r * c + i] * nl_gain(v.gamma, v.plus_one, i));
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

static size_t scratch(const nl_problem *p) {
    return (2 * p->n * p->c + p->n) * sizeof(float);
}

NL_IMPL(.about = "one loop per operation, every intermediate stored",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1, .forward = forward,
        .scratch = scratch);
