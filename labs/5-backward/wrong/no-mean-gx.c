/* Wrong: dx as if only the mean depended on x: the term of the variance is left out.
 * SPDX-License-Identifier: MIT */
// expect: points 0..0
// expect: hint the term xhat * mean(g * xhat) was left out
// expect: wrong dx
// expect: wrong dgamma and dbeta
// expect: wrong dresidual, eps, gamma
// expect: wrong without gamma
// expect: wrong in place
// expect: wrong 16-bit storage
// expect: wrong uneven data
#include "kernel.h"

NL_INLINE void layernorm(nl_backward_view v) {
    nl_clear_gradients(v);
    for (size_t r = 0; r < v.n; r++) {
        nl_backward_view row = nl_backward_row(v, r);

        float mean = *row.mean, rstd = *row.rstd, mean_g = 0;
        for (size_t i = 0; i < v.c; i++) {
            mean_g += nl_g(row, i);
        }
        mean_g /= v.c;

        for (size_t i = 0; i < v.c; i++) {
            float dy = nl_load(v.t, row.dy, i), xhat = (nl_load(v.t, row.x, i) - mean) * rstd;
            nl_put_dx(row, i, rstd * (nl_g(row, i) - mean_g));
            if (v.dgamma) v.dgamma[i] += dy * xhat;
            if (v.dbeta) v.dbeta[i] += dy;
        }
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, layernorm);
}

NL_IMPL(.about = "without the variance's term", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS,
        .lanes = 1, .backward = backward);
