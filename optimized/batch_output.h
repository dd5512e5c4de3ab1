/* BatchNorm's output: y, or dx in backward, for a span of adjacent elements.
 * SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_OUTPUT_H
#define NL_BATCH_OUTPUT_H

#include "batch_work.h"

enum { LINE = 64 /* bytes of a cache line */ };

/* Prefetches x (and dy) at an element; an address beyond the tensor is harmless. */
NL_INLINE void prefetch_at(work w, nl_dtype t, size_t at, batch_recipe q) {
    const size_t bytes = at * nl_dtype_size(t);
    vprefetch((const void *)((uintptr_t)w.v.x + bytes));
    if (q.backward) vprefetch((const void *)((uintptr_t)w.dy + bytes));
}

/* The coefficients of y: for a run those of its channel, else those of each column, in memory. */
typedef struct coefficients {
    bool run;
    vf m, a, b, gain, bias;
} coefficients;

/* Writes k elements of y from element `at` on, in the columns from f on. */
NL_INLINE void put_vector(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                          size_t k, bool stream, batch_recipe q) {
    const size_t readable = k == VLEN ? VLEN : readable_lanes(w, at);
    vf y = vload(t, w.v.x, at, readable);
    y -= p.run ? p.m : vload(NL_F32, w.m, f, VLEN);
    y = vfma(y, p.run ? p.a : vload(NL_F32, w.a, f, VLEN),
             p.run ? p.b : vload(NL_F32, w.b, f, VLEN));
    if (cast)
        y = vfma(vround(t, y), p.run ? p.gain : vload(NL_F32, w.gain, f, VLEN),
                 p.run ? p.bias : vload(NL_F32, w.bias, f, VLEN));
    if (q.backward)
        y = (y + vload(t, w.dy, at, readable)) * (p.run ? p.gain : vload(NL_F32, w.gain, f, VLEN));
    if (stream)
        vstream(t, w.v.y, at, y);
    else
        vstore(t, w.v.y, at, k, y);
}

NL_INLINE void put_few(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                       size_t count, batch_recipe q) {
    for (size_t i = 0; i < count; i += VLEN)
        put_vector(w, t, cast, p, at + i, f + i, least(VLEN, count - i), false, q);
}

/* The same for any `count`. Streams only whole lines. Prefetches x by `ahead` elements, if any. */
NL_INLINE void put_span(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                        size_t count, size_t ahead, batch_recipe q) {
    const size_t size = nl_dtype_size(t), step = q.tiles ? 4 * VLEN : VLEN;
    size_t from = 0, to = count / VLEN * VLEN;
    if (q.streaming) {
        const size_t over = ((uintptr_t)w.v.y + at * size) % LINE / size;
        from = least(over ? LINE / size - over : 0, count);
        to = from + (count - from) / (LINE / size) * (LINE / size);
        put_few(w, t, cast, p, at, f, from, q);
    }
    put_few(w, t, cast, p, at + to, f + to, count - to, q);
    const size_t steps = (to - from) / step;
    for (size_t i = from + steps * step; i < to; i += VLEN)
        put_vector(w, t, cast, p, at + i, f + i, VLEN, q.streaming, q);
    for (size_t k = 0; k < steps; k++) {
        const size_t i = from + (q.reverse ? steps - 1 - k : k) * step;
#pragma GCC unroll 4
        for (size_t on = i; on < i + step; on += VLEN) {
            if (ahead) prefetch_at(w, t, at + on + ahead, q);
            put_vector(w, t, cast, p, at + on, f + on, VLEN, q.streaming, q);
        }
    }
}

#endif
