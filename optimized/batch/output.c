/* BatchNorm's output: y, or dx in backward. SPDX-License-Identifier: MIT */
#include "vec/lines.h"
#include "work.h"

enum { PAIR = 2 * VLEN };

/* The coefficients of y, for the channel of a run or for a vector of columns. If `held` is false,
 * each vector loads its coefficients. */
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

/* The k elements of y that start at element `at`, in columns that start at f. */
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

/* Writes two vectors of output. To stream, y + at must be aligned to the size of both vectors. */
NL_INLINE void put_pair(work w, nl_dtype t, bool cast, coefficients p, coefficients p_next,
                        size_t at, size_t f, batch_recipe q) {
    const vf y = output_of(w, t, cast, p, at, f, VLEN, q);
    const vf next = output_of(w, t, cast, p_next, at + VLEN, f + VLEN, VLEN, q);
    if (q.streaming)
        vstream2(t, w.v.y, at, y, next);
    else
        vstore2(t, w.v.y, at, y, next);
}

/* Writes `count` elements of output, starting at address `to`. */
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

/* Writes two rows of columns, and loads the coefficients once for both rows. */
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

/* First writes the elements that do not fill a step. Prefetches x `ahead` elements ahead. */
NL_INLINE void put_vectors(work w, nl_dtype t, bool cast, coefficients p, size_t at, size_t f,
                           size_t count, size_t ahead, batch_recipe q) {
    const size_t step = 2 * PAIR, steps = count / step;
    size_t rest = steps * step;
    for (; rest + PAIR <= count; rest += PAIR) put_pair(w, t, cast, p, p, at + rest, f + rest, q);
    put_few(w, t, cast, p, at + rest, f + rest, count - rest, q);
    for (size_t k = 0; k < steps; k++) {
        const size_t i = (q.reverse ? steps - 1 - k : k) * step;
#pragma GCC unroll 2
        for (size_t on = i; on < i + step; on += PAIR) {
            if (ahead) prefetch_at(w, t, at + on + ahead, q);
            if (ahead) prefetch_at(w, t, at + on + VLEN + ahead, q);
            put_pair(w, t, cast, p, p, at + on, f + on, q);
        }
    }
}

/* Like put_vectors(), for any `count`. Streams only whole cache lines. */
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

/* Writes row by row, so that x and y are accessed in memory order. In bf16, writes two rows at a
 * time if conversion, not memory, is the bottleneck. */
NL_INLINE void put_columns(work w, nl_dtype t, bool cast, size_t row, size_t end, size_t begin,
                           size_t f_end, batch_recipe q) {
    const coefficients own = {.held = false};
    const size_t rows = end - row;
    const bool two = t == NL_BF16 && REGISTERS > 16 && !q.streaming && (q.inference || w.cached);
    const size_t ahead = w.columns > L1_OUTPUT ? (size_t)q.prefetch_rows * w.columns : 0;
    shared_line line = {.held = 0};
    for (size_t done = 0; done < rows; done += BLOCK)
        for (size_t f = begin; f < f_end; f += L1_OUTPUT)
            for (size_t i = done, next; i < least(done + BLOCK, rows); i = next) {
                next = two ? least(i + 2, least(done + BLOCK, rows)) : i + 1;
                const size_t at = (q.reverse ? end - next : row + i) * w.columns + f;
                const size_t width = least(L1_OUTPUT, f_end - f);
                if (next == i + 2)
                    put_two(w, t, cast, at, f, width, q);
                else
                    put_span(w, t, cast, own, at, f, width, q.reverse ? -ahead : ahead, &line, q);
            }
    put_waiting(&line);
}

NL_INLINE void put_runs(work w, nl_dtype t, bool cast, size_t row, size_t end, size_t begin,
                        size_t j_end, batch_recipe q) {
    shared_line line = {.held = 0};
    for (size_t i = 0; i < end - row; i++)
        for (size_t k = 0; k < j_end - begin; k++) {
            const size_t j = q.reverse ? j_end - 1 - k : begin + k;
            const size_t at = nl_at(w.v, q.reverse ? end - 1 - i : row + i, j, 0);
            coefficients p = {.held = true,
                              .m = vset(w.m[j]),
                              .a = vset(w.a[j]),
                              .b = vset(w.b[j])};
            if (cast || q.backward) p.gain = vset(w.gain[j]);
            if (cast) p.bias = vset(w.bias[j]);
            put_span(w, t, cast, p, at, 0, w.v.s, 0, &line, q);
        }
    put_waiting(&line);
}

/* Writes `together` rows as one long row, whose coefficients repeat: a long row has at most one
 * partial vector, and fills whole cache lines. */
NL_INLINE void put_together(work w, nl_dtype t, bool cast, size_t row, size_t end, batch_recipe q) {
    const size_t rows = w.together, last = row + (end - row) / rows * rows;
    const size_t rest = (end - last) * w.columns, at = last * w.columns;
    shared_line line = {.held = 0};
    w.m = w.wide, w.a = w.m + w.joined, w.b = w.a + w.joined;
    w.gain = w.b + w.joined, w.bias = w.gain + w.joined;
    w.columns *= rows;
    if (rest) put_span(w, t, cast, (coefficients){.held = false}, at, 0, rest, 0, &line, q);
    put_waiting(&line);
    put_columns(w, t, cast, row / rows, last / rows, 0, w.columns, q);
}

NL_INLINE void put_part(const part *p, nl_dtype t, bool cast, bool backward, bool streaming) {
    const channels *k = p->k;
    const size_t width = k->w->width;
    batch_recipe q = k->w->q;
    q.backward = backward, q.streaming = streaming;
    if (k->w->runs)
        put_runs(*k->w, t, cast, p->row, p->end, k->j, k->end, q);
    else if (joins_rows(k))
        put_together(*k->w, t, cast, p->row, p->end, q);
    else
        put_columns(*k->w, t, cast, p->row, p->end, k->j * width, k->end * width, q);
}

static void y_f32(const part *p) {
    put_part(p, NL_F32, false, false, false);
}
static void y_f16(const part *p) {
    put_part(p, NL_F16, false, false, false);
}
static void y_bf16(const part *p) {
    put_part(p, NL_BF16, false, false, false);
}
static void stream_y_f32(const part *p) {
    put_part(p, NL_F32, false, false, true);
}
static void stream_y_f16(const part *p) {
    put_part(p, NL_F16, false, false, true);
}
static void stream_y_bf16(const part *p) {
    put_part(p, NL_BF16, false, false, true);
}
static void dx_f32(const part *p) {
    put_part(p, NL_F32, false, true, false);
}
static void dx_f16(const part *p) {
    put_part(p, NL_F16, false, true, false);
}
static void dx_bf16(const part *p) {
    put_part(p, NL_BF16, false, true, false);
}
static void stream_dx_f32(const part *p) {
    put_part(p, NL_F32, false, true, true);
}
static void stream_dx_f16(const part *p) {
    put_part(p, NL_F16, false, true, true);
}
static void stream_dx_bf16(const part *p) {
    put_part(p, NL_BF16, false, true, true);
}

/* Casting before the weight is rare, so one loop serves all types. */
static void put_cast(const part *p) {
    const batch_recipe q = p->k->w->q;
    put_part(p, p->k->w->v.t, true, false, q.streaming);
}

static part_function *const put[2][2][NL_DTYPES] = {
    {{[NL_F32] = y_f32, [NL_F16] = y_f16, [NL_BF16] = y_bf16},
     {[NL_F32] = stream_y_f32, [NL_F16] = stream_y_f16, [NL_BF16] = stream_y_bf16}},
    {{[NL_F32] = dx_f32, [NL_F16] = dx_f16, [NL_BF16] = dx_bf16},
     {[NL_F32] = stream_dx_f32, [NL_F16] = stream_dx_f16, [NL_BF16] = stream_dx_bf16}},
};

void batch_output(const channels *k, size_t begin, size_t end) {
    const work *w = k->w;
    const part p = {k, begin * w->piece, least(end * w->piece, w->v.n), NULL};
    if (w->cast)
        put_cast(&p);
    else
        put[w->q.backward][w->q.streaming][w->v.t](&p);
    if (w->q.streaming) vfence();
}
