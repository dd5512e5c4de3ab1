/* Channels that lie beside each other: a vector holds one value of VLEN of them, and nothing is ever
 * added across its lanes. The tensor is n rows of `columns` here. SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_COLUMNS_H
#define NL_BATCH_COLUMNS_H

enum {
    BLOCK = 16,     /* rows that are summed by themselves before they join the others */
    HIGH = 8,       /* rows of a tile */
    NARROW = 256,   /* columns: a block of them is a single stretch of memory */
    ABREAST = 1024, /* columns whose sums stay in the first-level cache */
    LINE = 64       /* bytes of a cache line */
};

/* A vector may be read as a whole wherever the tensor has as much, into the next row as well: the
 * arrays have room for the lanes that are too many. */
NL_INLINE size_t lanes_at(work w, size_t at) {
    return least(w.total - at, VLEN);
}

/* Asks for an element that will be read soon; beyond the tensor that does no harm. */
NL_INLINE void ask_for(work w, nl_dtype t, size_t at) {
    const size_t bytes = at * (t == NL_F32 ? 4 : 2);
    vprefetch((const void *)((uintptr_t)w.v.x + bytes));
    if (q.backward) vprefetch((const void *)((uintptr_t)w.dy + bytes));
}

/* Where in its piece's block a tile is: in the first block; at its beginning, at its end, or both. */
typedef struct place {
    bool first, open, close;
} place;

/* A vector of columns: what is subtracted, and the sums. Tiles have four of them by name: an array
 * is something that compilers would keep in memory. */
typedef struct lanes {
    vf m, d, squares;
} lanes;

NL_INLINE lanes open_lanes(work w, size_t f, place in, const float *sums) {
    lanes l = {vload(NL_F32, w.m, f, VLEN), vset(0), vset(0)};
    if (in.open) return l;
    l.d = vload(NL_F32, sums + 2 * w.pad, f, VLEN);
    l.squares = vload(NL_F32, sums + 3 * w.pad, f, VLEN);
    return l;
}

NL_INLINE void add_lanes(lanes *l, work w, nl_dtype t, size_t at, size_t k, bool ask) {
    if (ask) ask_for(w, t, at + (size_t)q.ahead * w.columns);
    vf e = vload(t, w.v.x, at, k) - l->m, g = q.backward ? vload(t, w.dy, at, k) : e;
    l->d += g;
    l->squares = vfma(e, g, l->squares);
}

/* They join the sums of the blocks before, or wait for the block's next tile. */
NL_INLINE void close_lanes(lanes l, work w, size_t f, place in, float *sums) {
    if (in.close && !in.first) {
        l.d += vload(NL_F32, sums, f, VLEN);
        l.squares += vload(NL_F32, sums + w.pad, f, VLEN);
    }
    if (!in.close) sums += 2 * w.pad;
    vstore(NL_F32, sums, f, VLEN, l.d);
    vstore(NL_F32, sums + w.pad, f, VLEN, l.squares);
}

/* Rows [row, end) of columns [f, f_end). */
NL_INLINE void sum_tiles(work w, nl_dtype t, size_t row, size_t end, size_t f, size_t f_end,
                         place in, bool ask, float *sums) {
    enum { A = VLEN, B = 2 * VLEN, C = 3 * VLEN };
    for (; q.tiles && f + 4 * VLEN <= f_end; f += 4 * VLEN) {
        lanes l0 = open_lanes(w, f, in, sums), l1 = open_lanes(w, f + A, in, sums);
        lanes l2 = open_lanes(w, f + B, in, sums), l3 = open_lanes(w, f + C, in, sums);
        for (size_t i = row; i < end; i++) {
            const size_t at = i * w.columns + f;
            add_lanes(&l0, w, t, at, VLEN, ask), add_lanes(&l1, w, t, at + A, VLEN, ask);
            add_lanes(&l2, w, t, at + B, VLEN, ask), add_lanes(&l3, w, t, at + C, VLEN, ask);
        }
        close_lanes(l0, w, f, in, sums), close_lanes(l1, w, f + A, in, sums);
        close_lanes(l2, w, f + B, in, sums), close_lanes(l3, w, f + C, in, sums);
    }
    for (; f < f_end; f += VLEN) {
        lanes l = open_lanes(w, f, in, sums);
        for (size_t i = row; i < end; i++)
            add_lanes(&l, w, t, i * w.columns + f, lanes_at(w, i * w.columns + f), false);
        close_lanes(l, w, f, in, sums);
    }
}

/* Tiles are for tensors that the cache holds. Memory wants to be read in its own order: there a
 * tile is one row high, and the block's sums wait in the first-level cache. */
NL_INLINE void sum_columns(work w, nl_dtype t, size_t row, size_t end, size_t begin, size_t f_end,
                           float *sums) {
    const bool high = q.tiles && (w.cached || w.columns <= NARROW);
    for (size_t top = row; top < end; top += BLOCK)
        for (size_t f = begin; f < f_end; f += ABREAST) {
            const size_t bottom = least(top + BLOCK, end), right = least(f + ABREAST, f_end);
            for (size_t r = top, next; r < bottom; r = next) {
                next = least(r + (high ? HIGH : 1), bottom);
                const place in = {top == row, r == top, next == bottom};
                if (high)
                    sum_tiles(w, t, r, next, f, right, in, false, sums);
                else
                    sum_tiles(w, t, r, r + 1, f, right, in, q.ahead > 0, sums);
            }
        }
}

/* What y is made with: each column's own, or for a run what its channel has. */
typedef struct pen {
    bool run;
    vf m, a, b, gain, bias;
} pen;

/* k elements of y from element `at` on, in column f. */
NL_INLINE void put_vector(work w, nl_dtype t, bool cast, pen p, size_t at, size_t f, size_t k,
                          bool stream) {
    const size_t readable = k == VLEN ? VLEN : lanes_at(w, at);
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

NL_INLINE void put_few(work w, nl_dtype t, bool cast, pen p, size_t at, size_t f, size_t count) {
    for (size_t i = 0; i < count; i += VLEN)
        put_vector(w, t, cast, p, at + i, f + i, least(VLEN, count - i), false);
}

/* `count` elements of y from `at` on, in the columns from f on. Only whole lines can be streamed.
 * Asks for x so many elements further, if any. */
NL_INLINE void put_stretch(work w, nl_dtype t, bool cast, pen p, size_t at, size_t f, size_t count,
                           size_t further) {
    const size_t size = t == NL_F32 ? 4 : 2, step = q.tiles ? 4 * VLEN : VLEN;
    size_t from = 0, to = count / VLEN * VLEN;
    if (q.streaming) {
        const size_t over = ((uintptr_t)w.v.y + at * size) % LINE / size;
        from = least(over ? LINE / size - over : 0, count);
        to = from + (count - from) / (LINE / size) * (LINE / size);
        put_few(w, t, cast, p, at, f, from);
    }
    put_few(w, t, cast, p, at + to, f + to, count - to);
    const size_t steps = (to - from) / step;
    for (size_t i = from + steps * step; i < to; i += VLEN)
        put_vector(w, t, cast, p, at + i, f + i, VLEN, q.streaming);
    for (size_t k = 0; k < steps; k++) {
        const size_t i = from + (q.reverse ? steps - 1 - k : k) * step;
#pragma GCC unroll 4
        for (size_t on = i; on < i + step; on += VLEN) {
            if (further) ask_for(w, t, at + on + further);
            put_vector(w, t, cast, p, at + on, f + on, VLEN, q.streaming);
        }
    }
}

/* Row by row, so that neither x nor y leaves the order in which memory is fast. */
NL_INLINE void put_columns(work w, nl_dtype t, bool cast, size_t row, size_t end, size_t begin,
                           size_t f_end) {
    const pen own = {.run = false};
    const size_t rows = end - row, ahead = w.columns > ABREAST ? (size_t)q.ahead * w.columns : 0;
    for (size_t done = 0; done < rows; done += BLOCK)
        for (size_t f = begin; f < f_end; f += ABREAST)
            for (size_t i = done; i < least(done + BLOCK, rows); i++) {
                const size_t at = (q.reverse ? end - 1 - i : row + i) * w.columns + f;
                const size_t width = least(ABREAST, f_end - f);
                put_stretch(w, t, cast, own, at, f, width, q.reverse ? -ahead : ahead);
            }
}

#endif
