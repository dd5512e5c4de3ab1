/* Backward: the coefficients of dx, from the saved statistics and the sums.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "strips.h"

/* Sets m to the mean that forward saved. */
static void set_saved(channels k) {
    const work *w = k.w;
    const float *mean = w->back->mean;
    if (w->width == 1) memcpy(w->m + k.j, mean + k.j, (k.end - k.j) * sizeof *mean);
    for (size_t j = k.j; w->width > 1 && j < k.end; j++) set_columns(w, w->m, j, mean[j]);
}

/* With the sums D = sum(dy) and E = sum(dy * (x - mean)), and r = rstd: dgamma = E * r, dbeta = D,
 *
 *     dx = gamma * r * (dy - D / (n * s) - (x - mean) * dgamma * r / (n * s))
 */
static void set_gradients(channels k) {
    const work *w = k.w;
    const nl_backward_view back = *w->back;
    for (size_t j = k.j; j < k.end; j += STRIP) {
        strip s;
        float ones[STRIP], dgamma[STRIP], dbeta[STRIP];
        open_strip(k, j, &s);
        merge(w, &s);
        const size_t count = s.count;
        const double per_count = w->per_count;
        const float *gamma = strip_of(back.gamma, &s, 1, ones), *rstd = back.rstd + j;
        float *gain = w->width == 1 ? w->gain + j : s.shift;
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            const double slope = s.squares[i] * (double)rstd[i];
            dgamma[i] = (float)slope, dbeta[i] = (float)s.d[i];
            s.a[i] = -(float)(slope * per_count * (double)rstd[i]),
            s.b[i] = -(float)(s.d[i] * per_count);
            gain[i] = gamma[i] * rstd[i];
        }
        spread(w, &s, w->a, s.a), spread(w, &s, w->b, s.b), spread(w, &s, w->gain, gain);
        if (back.dgamma) memcpy(back.dgamma + j, dgamma, count * sizeof *dgamma);
        if (back.dbeta) memcpy(back.dbeta + j, dbeta, count * sizeof *dbeta);
    }
}
