/* BatchNorm's output: y, or dx in backward, for a span of adjacent elements.
 * SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_OUTPUT_H
#define NL_BATCH_OUTPUT_H

#include "batch_work.h"
#include "lines.h"

enum { PAIR = 2 * VLEN };

/* Prefetches x (and dy) at an element; an address beyond the tensor is harmless. */
NL_INLINE void prefetch_at(work w, nl_dtype t, size_t at, batch_recipe q) {
    const size_t bytes = at * nl_dtype_size(t);
    vprefetch((const void *)((uintptr_t)w.v.x + bytes));
    if (q.backward) vprefetch((const void *)((uintptr_t)w.dy + bytes));
}

/* The coefficients of y: those of a run's channel, or of a vector of columns; not held, they are
 * loaded for each vector. */
typedef struct coefficients {
    bool held;
    vf m, a, b, gain, bias;
} coefficients;

NL_INLINE coefficients loaded(work w, size_t f) {
    return (coefficients){true,
                          vload(NL_F32, w.m, f, VLEN),
                          vload(NL_F32, w.a, f, VLEN),
                          vload(NL_F32, w.b, f, VLEN),
                          vload(NL_F32, w.gain, f, VLEN),
                          vload(NL_F32, w.bias, f, VLEN)};
}

/* k elements of y from element `at` on, in the columns from f on. */
NL_INLINE vf output_of(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f, size_t k,
                       batch_recipe q) {
    const size_t readable = k == VLEN ? VLEN : readable_lanes(w, at);
    if (!p.held) p = loaded(w, f);
    vf y = vload(t, w.v.x, at, readable);
    y -= p.m;
    y = vfma(y, p.a, p.b);
    if (cast) y = vfma(vround(t, y), p.gain, p.bias);
    if (q.backward) y = (y + vload(t, w.dy, at, readable)) * p.gain;
    return y;
}

/* Writes the elements of two vectors; streamed ones begin at a line. */
NL_INLINE void put_pair(work w, nl_dtype t, bool cast, coefficients p, coefficients p_next,
                        size_t at, size_t f, batch_recipe q) {
    const vf y = output_of(w, t, cast, p, at, f, VLEN, q);
    const vf next = output_of(w, t, cast, p_next, at + VLEN, f + VLEN, VLEN, q);
    if (q.streaming)
        vstream2(t, w.v.y, at, y, next);
    else
        vstore2(t, w.v.y, at, y, next);
}

/* The same of `count` elements, stored from `to` on. */
NL_INLINE void put_edge(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                        size_t count, void *to, batch_recipe q) {
    for (size_t i = 0; i < count; i += VLEN) {
        const size_t k = least(VLEN, count - i);
        vstore(t, to, i, k, output_of(w, t, cast, p, at + i, f + i, k, q));
    }
}

NL_INLINE void put_few(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                       size_t count, batch_recipe q) {
    put_edge(w, t, cast, p, at, f, count, (char *)w.v.y + at * nl_dtype_size(t), q);
}

/* Writes two rows of columns at a time, for which the coefficients are loaded once. */
NL_INLINE void put_two(work w, nl_dtype t, bool cast, size_t at, size_t f, size_t count,
                       batch_recipe q) {
    const coefficients own = {.held = false};
    size_t i = 0;
    for (; i + PAIR <= count; i += PAIR) {
        const coefficients p = loaded(w, f + i), next = loaded(w, f + i + VLEN);
        put_pair(w, t, cast, p, next, at + i, f + i, q);
        put_pair(w, t, cast, p, next, at + w.columns + i, f + i, q);
    }
    put_few(w, t, cast, own, at + i, f + i, count - i, q);
    put_few(w, t, cast, own, at + w.columns + i, f + i, count - i, q);
}

/* What is no whole step, then the steps. Prefetches x by `ahead` elements, if any. */
NL_INLINE void put_vectors(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                           size_t count, size_t ahead, batch_recipe q) {
    const size_t step = q.tiles ? 2 * PAIR : VLEN, steps = count / step;
    size_t rest = steps * step;
    for (; rest + PAIR <= count; rest += PAIR) put_pair(w, t, cast, p, p, at + rest, f + rest, q);
    put_few(w, t, cast, p, at + rest, f + rest, count - rest, q);
    for (size_t k = 0; k < steps; k++) {
        const size_t i = (q.reverse ? steps - 1 - k : k) * step;
        if (!q.tiles) {
            if (ahead) prefetch_at(w, t, at + i + ahead, q);
            put_few(w, t, cast, p, at + i, f + i, VLEN, q);
            continue;
        }
#pragma GCC unroll 2
        for (size_t on = i; on < i + step; on += PAIR) {
            if (ahead) prefetch_at(w, t, at + on + ahead, q);
            if (ahead) prefetch_at(w, t, at + on + VLEN + ahead, q);
            put_pair(w, t, cast, p, p, at + on, f + on, q);
        }
    }
}

/* The same for any `count`. Streams only whole lines. */
NL_INLINE void put_span(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                        size_t count, size_t ahead, shared_line *line, batch_recipe q) {
    const size_t size = nl_dtype_size(t), vectors = count / VLEN * VLEN;
    if (!q.streaming) {
        put_few(w, t, cast, p, at + vectors, f + vectors, count - vectors, q);
        put_vectors(w, t, cast, p, at, f, vectors, ahead, q);
        return;
    }
    char *const y = (char *)w.v.y + at * size;
    const whole_lines l = whole_lines_of(y, size, count);
    put_edge(w, t, cast, p, at, f, l.begin, head_at(line, y, l.begin * size), q);
    put_vectors(w, t, cast, p, at + l.begin, f + l.begin, l.end - l.begin, ahead, q);
    put_if_whole(line);
    if (l.end == count) return;
    void *const rest = tail_at(line, y + l.end * size, (count - l.end) * size);
    put_edge(w, t, cast, p, at + l.end, f + l.end, count - l.end, rest, q);
}

#endif
