/* Is right as long as it is checked; called again with the same buffers, it keeps what it has
 * written. SPDX-License-Identifier: MIT */
// expect: hint does it keep an answer, or leave work out?
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        float sum = 0;
        for (size_t i = 0; i < v.c; i++) sum += nl_x(row, i) * nl_x(row, i);
        const float rstd = 1 / sqrtf(sum / v.c + v.eps);
        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    static const void *last;
    static int times;
    times = a->x == last ? times + 1 : 0, last = a->x;
    if (times > 10) return;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "a cheat", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
