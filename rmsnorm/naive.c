/* idea   The formula as in the paper: the mean of the squares, then every element divided by the
 *        root. Two passes over the row; LayerNorm's naive rung makes three.
 * gain   None; every other rung is compared with this rung.
 * fails  A square overflows if |x| exceeds about 1e19. There is no mean, so nothing cancels.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float mean_square = 0;
        for (size_t i = 0; i < v.c; i++) mean_square += nl_x(row, i) * nl_x(row, i);
        mean_square /= v.c;

        for (size_t i = 0; i < v.c; i++)
            nl_put_y(row, i, nl_x(row, i) / sqrtf(mean_square + v.eps));
        nl_keep(row, 0, 1 / sqrtf(mean_square + v.eps));
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "the formula, divide and root where it stands",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .strided = true, .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
