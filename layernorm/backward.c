/* idea   The gradient as docs/backward.md derives it, g = gamma * dy and xhat = (x - mean) * rstd:
 *            dx_i = rstd * (g_i - mean(g) - xhat_i * mean(g * xhat))
 *            dgamma_i = sum over rows of dy_i * xhat_i,  dbeta_i = sum over rows of dy_i
 * gain   None; the formula in two passes over the row, from the statistics forward has saved.
 * fails  dgamma and dbeta are read and written for every row.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    size_t c = p->c;
    for (size_t i = 0; i < c; i++) {
        if (a->dgamma) a->dgamma[i] = 0;
        if (a->dbeta) a->dbeta[i] = 0;
    }
    for (size_t r = 0; r < p->n; r++) {
        float mean = a->mean[r], rstd = a->rstd[r], mean_g = 0, mean_gx = 0;
        for (size_t i = 0; i < c; i++) {
            float dy = nl_load(p->dtype, a->dy, r * c + i);
            float xhat = (nl_load(p->dtype, a->x, r * c + i) - mean) * rstd;
            float g = a->gamma ? a->gamma[i] * dy : dy;
            mean_g += g;
            mean_gx += g * xhat;
            if (a->dgamma) a->dgamma[i] += dy * xhat;
            if (a->dbeta) a->dbeta[i] += dy;
        }
        mean_g /= c;
        mean_gx /= c;
        for (size_t i = 0; i < c; i++) {
            float dy = nl_load(p->dtype, a->dy, r * c + i);
            float xhat = (nl_load(p->dtype, a->x, r * c + i) - mean) * rstd;
            float g = a->gamma ? a->gamma[i] * dy : dy;
            nl_put_dx(p, a, r * c + i, rstd * (g - mean_g - xhat * mean_gx));
        }
    }
}

NL_IMPL(.about = "the gradients as the docs derive them", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 1, .method = NL_TWO_PASS,
        .lanes = 1, .backward = backward);
