/* BatchNorm's statistics from sums, the certificate, and the coefficients of y, for one strip of
 * channels at a time. SPDX-License-Identifier: MIT */
#pragma once

#include "strips.h"

#include <float.h>

/* For any m, d = x - m and c = E[d]: the mean is m + c, var is E[d^2] - c^2, up to rounding. */
NL_INLINE void from_sums(const work *w, strip *s) {
    const double per = w->per_count;
    const float eps = w->v.eps, *m = s->m;
    const size_t count = s->count;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        double c = s->d[i] * per, var = (s->squares[i] - c * s->d[i]) * per;
        float rstd = 1 / sqrtf((float)var + eps);
        s->var[i] = var, s->rstd[i] = rstd;
        s->mean[i] = m[i] + (float)c, s->shift[i] = (float)c * rstd;
    }
}

/* Sums are certain if they neither overflowed nor underflowed (underflow is harmless if eps is
 * large), and if m was off by less than sigma, so that var lost at most one bit. */
NL_INLINE bool in_range(const work *w, double squares) {
    const double small = w->v.eps < 0x1p-96f ? 0x1p-96 : 0;
    return (int)(squares >= small) & (int)(squares <= (double)FLT_MAX);
}

NL_INLINE bool is_near(const work *w, double d, double squares) {
    return 2 * w->per_count * d * d <= squares;
}

NL_INLINE bool all_certain(const work *w, const strip *s) {
    const size_t count = s->count;
    size_t certain = 0;
#pragma omp simd reduction(+ : certain)
    for (size_t i = 0; i < count; i++)
        certain += (size_t)in_range(w, s->squares[i]) & (size_t)is_near(w, s->d[i], s->squares[i]);
    return certain == count;
}

NL_INLINE size_t index_of(const work *w, size_t j, size_t k) {
    return nl_at(w->v, k / w->v.s, j, k % w->v.s);
}

/* Divides by count, because 1 / count is inexact, but a constant channel must give exactly beta. */
NL_COLD double mean_in_double(const work *w, size_t j, double *var) {
    const size_t count = w->v.n * w->v.s;
    double sum = 0, squares = 0;
    for (size_t k = 0; k < count; k++) sum += nl_x(w->v, index_of(w, j, k));
    const double mean = sum / (double)count;
    for (size_t k = 0; k < count; k++) {
        double d = nl_x(w->v, index_of(w, j, k)) - mean;
        squares += d * d;
    }
    *var = squares / (double)count;
    return mean;
}

/* Writes y of the channels whose m is NaN. In place, this runs before the output step, which would
 * overwrite these channels' x. The output step then keeps their y: (y - 0) * 1 + 0. */
NL_COLD void put_in_double(channels k, bool in_place) {
    const work *w = k.w;
    for (size_t j = k.j; j < k.end; j++) {
        if (!isnan(w->m[j * w->width])) continue;
        double var, mean = mean_in_double(w, j, &var), rstd = 1 / sqrt(var + (double)w->v.eps);
        for (size_t i = 0; i < w->v.n * w->v.s; i++) {
            const size_t at = index_of(w, j, i);
            nl_put(w->v, at, j, (float)((nl_x(w->v, at) - mean) * rstd));
        }
        if (!in_place) continue;
        set_columns(w, w->m, j, 0), set_columns(w, w->b, j, 0), set_columns(w, w->bias, j, 0);
        set_columns(w, w->a, j, 1), set_columns(w, w->gain, j, 1);
    }
}

/* Reads a strip's uncertain channels again: around the mean that their sums gave, or in double.
 * True if a channel was computed in double; its m is NaN, the mark for put_in_double(). */
NL_COLD bool read_again(const work *w, strip *s) {
    const strip old = *s;
    channels all = {.w = w, .j = s->j, .end = s->j + s->count, .what = SUMS};
    bool some_in_double = false;
    for (size_t i = 0; i < s->count; i++)
        if (!is_near(w, s->d[i], s->squares[i])) s->m[i] = s->mean[i];
    spread(w, s, w->m, s->m);
    batch_sums(&all, 0, w->pieces);
    merge(w, s);
    for (size_t i = 0; i < s->count; i++)
        if (is_near(w, old.d[i], old.squares[i]))
            s->d[i] = old.d[i], s->squares[i] = old.squares[i];
    from_sums(w, s);
    for (size_t i = 0; i < s->count; i++) {
        if (in_range(w, old.squares[i])) continue;
        double var, mean = mean_in_double(w, s->j + i, &var);
        s->m[i] = NAN, s->mean[i] = (float)mean, s->var[i] = var;
        s->rstd[i] = (float)(1 / sqrt(var + (double)w->v.eps));
        some_in_double = true;
    }
    return some_in_double;
}

/* Saves the statistics for backward and inference. Computes in double, because var may exceed
 * float's range although var times its weight in running_var does not. */
NL_INLINE void keep_strip(const work *w, const strip *s) {
    const nl_view v = w->v;
    if (v.mean) memcpy(v.mean + s->j, s->mean, s->count * sizeof *v.mean);
    if (v.rstd) memcpy(v.rstd + s->j, s->rstd, s->count * sizeof *v.rstd);
    if (!v.running_mean) return;
    const double m = (double)(v.n * v.s), new = (double)v.momentum, old = 1 - new;
    const double new_var = v.biased_running_var ? new : new *(m / (m - 1));
    float *mean = v.running_mean + s->j, *var = v.running_var + s->j;
#pragma omp simd
    for (size_t i = 0; i < s->count; i++) {
        mean[i] = (float)(old * (double)mean[i] + new *(double)s->mean[i]);
        var[i] = (float)(old * (double)var[i] + new_var * s->var[i]);
    }
}

/* Sets m, a and b from the sums. True: there are channels for put_in_double(). */
NL_INLINE bool set_parameters(channels k, batch_recipe q) {
    bool some_in_double = false;
    for (size_t j = k.j; j < k.end; j += STRIP) {
        strip s;
        open_strip(k, j, &s);
        merge(k.w, &s);
        for (size_t i = 0; q.statistics == TWO_PASS && i < s.count; i++)
            s.d[i] = 0; /* treats the rounded m as the exact mean */
        from_sums(k.w, &s);
        if (q.statistics == CERTIFIED && !all_certain(k.w, &s))
            some_in_double |= read_again(k.w, &s);
        set_strip(k.w, &s);
        keep_strip(k.w, &s);
    }
    return some_in_double;
}

/* Sets m, a and b from the running statistics. */
static void set_running(channels k) {
    for (size_t j = k.j; j < k.end; j += STRIP) {
        strip s;
        open_strip(k, j, &s);
        const float *mean = k.w->v.running_mean + j, *var = k.w->v.running_var + j;
        const float eps = k.w->v.eps;
        const size_t count = s.count;
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            s.rstd[i] = 1 / sqrtf(var[i] + eps);
            s.m[i] = mean[i], s.shift[i] = 0;
        }
        set_strip(k.w, &s);
    }
}

/* Sets m to the mean, from the sums around the old m. */
static void set_mean(channels k) {
    for (size_t j = k.j; j < k.end; j += STRIP) {
        strip s;
        open_strip(k, j, &s);
        merge(k.w, &s);
        const size_t count = s.count;
#pragma omp simd
        for (size_t i = 0; i < count; i++) s.m[i] += (float)(s.d[i] * k.w->per_count);
        spread(k.w, &s, k.w->m, s.m);
    }
}

/* Sets m for the first reading: zero, a channel's first value, or (certified) the mean of its first
 * 16 or a few more values, which is near the channel's mean unless there is an outlier. */
NL_INLINE void set_guess(channels k, batch_recipe q) {
    const work *w = k.w;
    const nl_view v = w->v;
    const bool zero = q.statistics == TWO_PASS, vectors = w->width == 1 && !w->runs;
    for (size_t j = k.j; vectors && j < k.end; j += VLEN)
        vstore(NL_F32, w->m, j, VLEN, zero ? vset(0) : vload(v.t, v.x, j, readable_lanes(*w, j)));
    for (size_t j = k.j; !vectors && j < k.end; j++) {
        const size_t at = nl_at(v, 0, j, 0);
        float first = zero ? 0 : nl_x(v, at), sum = 0;
        for (size_t i = 1; w->runs && q.statistics == CERTIFIED && i < 16; i++)
            sum += nl_x(v, at + i) - first;
        set_columns(w, w->m, j, first + sum / 16);
    }
    if (w->runs || q.statistics != CERTIFIED) return;
    work head = *w;
    head.v.n = (15 + v.s) / v.s, head.v.n = least(head.v.n + head.v.n % 2, v.n);
    head.pieces = 1, head.per_count = 1 / (double)(head.v.n * v.s);
    channels first = {.w = &head, .j = k.j, .end = k.end, .what = SUMS};
    batch_sums(&first, 0, 1);
    set_mean(first);
}
