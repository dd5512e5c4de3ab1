/* idea   rmsnorm/backward.c, with what is constant in a row taken out of its loops:
 *            mean(g * xhat) * xhat_i = slope * x_i,  slope = rstd^2 * mean(g * x)
 *        so the first loop is one sum of g * x, and the second makes dx and dgamma.
 * gain   Two multiplications an element less, and dgamma is added to where its terms are made anyway.
 * fails  The sum still waits for itself, and while it waits the multiplications are free: no large gain.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    size_t c = p->c;
    for (size_t i = 0; a->dgamma && i < c; i++) a->dgamma[i] = 0;
    for (size_t r = 0; r < p->n; r++) {
        float rstd = a->rstd[r], sum_gx = 0;
        for (size_t i = 0; i < c; i++)
            sum_gx += nl_gain_of(p, a, i) * nl_load(p->dtype, a->dy, r * c + i) *
                      nl_load(p->dtype, a->x, r * c + i);
        float slope = rstd * (rstd * (sum_gx / c));
        for (size_t i = 0; i < c; i++) {
            float dy = nl_load(p->dtype, a->dy, r * c + i), x = nl_load(p->dtype, a->x, r * c + i);
            nl_put_dx(p, a, r * c + i, rstd * (nl_gain_of(p, a, i) * dy - x * slope));
            if (a->dgamma) a->dgamma[i] += dy * (x * rstd);
        }
    }
}

NL_IMPL(.about = "the gradients, constants of a row out of its loops",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_BACKWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1,
        .backward = backward);
