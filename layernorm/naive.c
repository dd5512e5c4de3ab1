/* idea   The formula as in the paper: the mean, the variance around it, then for every element the
 *        difference divided by the root. Three passes over the row.
 * gain   None; every other rung is compared with this rung.
 * fails  Never badly. The mean is summed and rounded in float; its relative error, times
 *        mean/sigma, is the error of every output.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float mean = 0;
        for (size_t i = 0; i < v.c; i++) mean += nl_x(row, i);
        mean /= v.c;

        float var = 0;
        for (size_t i = 0; i < v.c; i++) var += (nl_x(row, i) - mean) * (nl_x(row, i) - mean);
        var /= v.c;

        for (size_t i = 0; i < v.c; i++)
            nl_put_y(row, i, (nl_x(row, i) - mean) / sqrtf(var + v.eps));
        nl_keep(row, mean, 1 / sqrtf(var + v.eps));
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "the formula, divide and root where it stands", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
