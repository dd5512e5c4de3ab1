/* Ends the process that grades, as if all were well.
 * SPDX-License-Identifier: MIT */
// expect: hint it calls exit, which a graded kernel must not
#include "kernel.h"

#include <stdlib.h>

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
    static int calls;
    if (++calls == 15) exit(0);
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "a cheat", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
