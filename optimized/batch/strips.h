/* A strip of BatchNorm's channels: its sums and statistics, in loops that compilers vectorize.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "work.h"

/* m, a and b point into the arrays of `work` if a channel is one column, otherwise into `own`. */
typedef struct strip {
    size_t j, count;
    float *m, *a, *b;
    double d[STRIP], squares[STRIP], var[STRIP];
    float mean[STRIP], rstd[STRIP], shift[STRIP], own[3][STRIP];
} strip;

NL_INLINE void open_strip(channels k, size_t j, strip *s) {
    const work *w = k.w;
    const bool narrow = w->width == 1;
    s->j = j, s->count = least(STRIP, k.end - j);
    s->m = narrow ? w->m + j : s->own[0];
    s->a = narrow ? w->a + j : s->own[1], s->b = narrow ? w->b + j : s->own[2];
    for (size_t i = 0; !narrow && i < s->count; i++) s->m[i] = w->m[(j + i) * w->width];
}

/* Sets all columns of channel j in an array. */
NL_INLINE void set_columns(const work *w, float *columns, size_t j, float value) {
    for (size_t i = 0; i < w->width; i += VLEN)
        vstore(NL_F32, columns, j * w->width + i, least(VLEN, w->width - i), vset(value));
}

/* Sets the columns of a strip's channels, unless `values` already lies in the array. */
NL_INLINE void spread(const work *w, const strip *s, float *columns, const float *values) {
    for (size_t i = 0; values != columns + s->j && i < s->count; i++)
        set_columns(w, columns, s->j + i, values[i]);
}

/* Adds up the strip's sums of all pieces, always in the same order. */
NL_INLINE void merge(const work *w, strip *s) {
    const size_t count = s->count;
    double *d = s->d, *squares = s->squares;
    for (size_t p = 0; p < w->pieces; p++)
        for (size_t k = 0; k < w->width; k++) {
            const float *sums = w->sums + 4 * p * w->padded;
            const float *from = sums + s->j * w->width + k, *more = from + w->padded;
            const double *runs = (const double *)sums + s->j, *more_runs = runs + w->padded;
            const bool first = p + k == 0;
            if (w->runs || w->width > 1) {
                for (size_t i = 0; i < count; i++) {
                    const double one = w->runs ? runs[i] : (double)from[i * w->width];
                    const double two = w->runs ? more_runs[i] : (double)more[i * w->width];
                    d[i] = (first ? 0 : d[i]) + one, squares[i] = (first ? 0 : squares[i]) + two;
                }
                continue;
            }
#pragma omp simd
            for (size_t i = 0; i < count; i++) {
                d[i] = (first ? 0 : d[i]) + (double)from[i];
                squares[i] = (first ? 0 : squares[i]) + (double)more[i];
            }
        }
}

/* A strip of gamma or beta. If `all` is NULL, returns `own`, filled with `fill`. */
NL_INLINE const float *strip_of(const float *all, const strip *s, float fill, float *own) {
    for (size_t i = 0; !all && i < STRIP; i++) own[i] = fill;
    return all ? all + s->j : own;
}

/* Sets m, a and b of the columns from a strip's m, rstd and shift. */
NL_INLINE void set_strip(const work *w, const strip *s) {
    float ones[STRIP], zeros[STRIP], *a = s->a, *b = s->b;
    const float *gain = strip_of(w->v.gamma, s, 1, ones), *bias = strip_of(w->v.beta, s, 0, zeros);
    const size_t count = s->count;
    if (w->cast) {
        spread(w, s, w->gain, gain), spread(w, s, w->bias, bias);
        gain = strip_of(NULL, s, 1, ones), bias = strip_of(NULL, s, 0, zeros);
    }
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        a[i] = s->rstd[i] * gain[i];
        b[i] = bias[i] - s->shift[i] * gain[i];
    }
    spread(w, s, w->m, s->m), spread(w, s, w->a, a), spread(w, s, w->b, b);
}
