/* Channels that lie beside each other: a vector holds one value of VLEN of them, and nothing is
 * ever added across its lanes. The tensor is n rows of `columns` here. SPDX-License-Identifier:
 * MIT */
#ifndef NL_BATCH_COLUMNS_H
#define NL_BATCH_COLUMNS_H

enum {
    BLOCK = 16,       /* rows that are summed by themselves before they join the others */
    NARROW = 256,     /* columns: a block of them is a single stretch of memory */
    ABREAST = 1024,   /* columns whose sums and parameters stay in the first-level
                       cache */
    VECTORS_MOST = 8, /* of a tile */
    LINE = 64         /* bytes of a cache line */
};

/* A vector may be read as a whole wherever the tensor has as much, into the next row as well: the
 * arrays have room for the lanes that are too many. */
NL_INLINE size_t lanes_at(work w, size_t at) {
    return least(w.total - at, VLEN);
}

/* Asks for an element that will be read soon; beyond the tensor that does no harm. */
NL_INLINE void ask_for(work w, nl_dtype t, size_t at) {
    vprefetch((const char *)w.v.x + at * (t == NL_F32 ? 4 : 2));
}

/* Where in its piece's block a tile is. */
typedef struct place {
    bool first, open, close; /* its block is the piece's first; it is the block's
                              first, last tile */
} place;

/* Rows [row, end) of `count` vectors of columns from f on. Their sums join those of the block;
 * where the tile is the whole block, they never leave the registers. */
NL_INLINE void sum_tile(work w, nl_dtype t, size_t row, size_t end, size_t f, int count, place in,
                        bool ask, float *sums) {
    vf m[VECTORS_MOST], d[VECTORS_MOST], s[VECTORS_MOST];
#pragma GCC unroll 8
    for (int a = 0; a < count; a++) {
        const size_t at = f + (size_t)a * VLEN;
        m[a] = vload(NL_F32, w.m, at, VLEN);
        d[a] = in.open ? vset(0) : vload(NL_F32, sums + 2 * w.pad, at, VLEN);
        s[a] = in.open ? vset(0) : vload(NL_F32, sums + 3 * w.pad, at, VLEN);
    }
    for (size_t i = row; i < end; i++)
#pragma GCC unroll 8
        for (int a = 0; a < count; a++) {
            const size_t at = i * w.columns + f + (size_t)a * VLEN;
            if (ask) ask_for(w, t, at + (size_t)q.ahead * w.columns);
            vf e = vload(t, w.v.x, at, count > 1 ? VLEN : lanes_at(w, at)) - m[a];
            d[a] += e;
            s[a] = vfma(e, e, s[a]);
        }
    if (in.close && !in.first)
#pragma GCC unroll 8
        for (int a = 0; a < count; a++) {
            d[a] += vload(NL_F32, sums, f + (size_t)a * VLEN, VLEN);
            s[a] += vload(NL_F32, sums + w.pad, f + (size_t)a * VLEN, VLEN);
        }
    if (!in.close) sums += 2 * w.pad;
#pragma GCC unroll 8
    for (int a = 0; a < count; a++) {
        vstore(NL_F32, sums, f + (size_t)a * VLEN, VLEN, d[a]);
        vstore(NL_F32, sums + w.pad, f + (size_t)a * VLEN, VLEN, s[a]);
    }
}

NL_INLINE void sum_tiles(work w, nl_dtype t, size_t row, size_t end, size_t f, size_t f_end,
                         place in, bool ask, float *sums) {
    const size_t step = (size_t)q.vectors * VLEN;
    for (; f + step <= f_end; f += step) sum_tile(w, t, row, end, f, q.vectors, in, ask, sums);
    for (; f < f_end; f += VLEN) sum_tile(w, t, row, end, f, 1, in, false, sums);
}

/* Tiles are for tensors that the cache holds. Memory wants to be read in its own order: there a
 * tile is one row high, and the block's sums wait in the first-level cache. */
NL_INLINE void sum_columns(work w, nl_dtype t, size_t row, size_t end, size_t begin, size_t f_end,
                           float *sums) {
    const bool high = w.cached || w.columns <= NARROW;
    for (size_t top = row; top < end; top += BLOCK)
        for (size_t f = begin; f < f_end; f += ABREAST) {
            const size_t bottom = least(top + BLOCK, end), right = least(f + ABREAST, f_end);
            for (size_t r = top, next; r < bottom; r = next) {
                next = least(r + (high ? (size_t)q.rows : 1), bottom);
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
    vf y = vload(t, w.v.x, at, k == VLEN ? VLEN : lanes_at(w, at));
    y -= p.run ? p.m : vload(NL_F32, w.m, f, VLEN);
    y = vfma(y, p.run ? p.a : vload(NL_F32, w.a, f, VLEN),
             p.run ? p.b : vload(NL_F32, w.b, f, VLEN));
    if (cast)
        y = vfma(vround(t, y), p.run ? p.gain : vload(NL_F32, w.gain, f, VLEN),
                 p.run ? p.bias : vload(NL_F32, w.bias, f, VLEN));
    if (stream)
        vstream(t, w.v.y, at, y);
    else
        vstore(t, w.v.y, at, k, y);
}

NL_INLINE void put_few(work w, nl_dtype t, bool cast, pen p, size_t at, size_t f, size_t count) {
    for (size_t i = 0; i < count; i += VLEN)
        put_vector(w, t, cast, p, at + i, f + i, least(VLEN, count - i), false);
}

/* `count` elements of y from `at` on, in the columns from f on. Only whole lines can be streamed. x
 * will be wanted next at `next`, where that is not zero. */
NL_INLINE void put_stretch(work w, nl_dtype t, bool cast, pen p, size_t at, size_t f, size_t count,
                           size_t next) {
    const size_t size = t == NL_F32 ? 4 : 2, step = (size_t)q.vectors * VLEN;
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
        const size_t first = from + (q.backwards ? steps - 1 - k : k) * step;
#pragma GCC unroll 8
        for (int a = 0; a < q.vectors; a++) {
            const size_t i = first + (size_t)a * VLEN;
            if (next) ask_for(w, t, next + i);
            put_vector(w, t, cast, p, at + i, f + i, VLEN, q.streaming);
        }
    }
}

/* Row by row, so that neither x nor y leaves the order in which memory is fast. */
NL_INLINE void put_columns(work w, nl_dtype t, bool cast, size_t row, size_t end, size_t begin,
                           size_t f_end) {
    const pen own = {.run = false};
    const size_t rows = end - row, next = q.backwards ? -w.columns : w.columns;
    for (size_t done = 0; done < rows; done += BLOCK)
        for (size_t f = begin; f < f_end; f += ABREAST)
            for (size_t i = done; i < least(done + BLOCK, rows); i++) {
                const size_t r = q.backwards ? end - 1 - i : row + i, at = r * w.columns + f;
                const size_t width = least(ABREAST, f_end - f);
                if (q.ahead && !w.cached)
                    put_stretch(w, t, cast, own, at, f, width, at + next);
                else
                    put_stretch(w, t, cast, own, at, f, width, 0);
            }
}

#endif
