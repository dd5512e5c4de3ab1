/* idea   A demonstration: arithmetic in float, as in one_pass, but with eps in the storage type, as
 *        when a framework converts the whole layer to 16 bits.
 * gain   None; it is an easy accident.
 * fails  f16's smallest number is 2^-24 = 6e-8, so an eps of 1e-6 is off by 1.3 %, and 1e-12
 *        becomes 0: a row of zeros gives NaN (PyTorch issue 41527). bf16's range suffices.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    float eps = nl_round(v.t, v.eps);
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) squares += nl_x(row, i) * nl_x(row, i);
        float rstd = 1 / sqrtf(squares / v.c + eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "float arithmetic, but eps rounded to 16 bits",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .demonstration = true, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
