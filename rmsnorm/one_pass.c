/* idea   Sums x^2 in one reading; one root and division per row, one multiplication per element.
 *        All terms are positive, so nothing cancels: the one-pass sum is accurate here, unlike in
 *        layernorm/one_pass.c, which subtracts two nearly equal numbers.
 * gain   The division leaves the loop, which saves little: the latency of the additions limits the
 *        speed. No row norm can do with fewer than two readings of x.
 * fails  A square overflows if |x| exceeds about 1e19, and with eps = 0 underflows below 1e-19.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) squares += nl_x(row, i) * nl_x(row, i);
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "the plain sum of squares, rstd once a row",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
