/* The loops of rows_registers. SPDX-License-Identifier: MIT */
#include "output.h"

enum {
    TOGETHER = VLEN,
    PREFETCHED = 32 /* prefetching pays if x exceeds this number of first-level caches */
};

/* A row's vectors, the lanes of its last vector, and whether y is streamed and x is prefetched. */
typedef struct row_shape {
    size_t vectors, last;
    bool streams, prefetches;
} row_shape;

/* Rows that are computed together. If fewer rows exist, the last row fills the free places. */
typedef struct some_rows {
    const void *x[TOGETHER];
    float mean[TOGETHER], shift[TOGETHER], rstd[TOGETHER]; /* xhat = (x - mean) * rstd - shift */
    float saved[TOGETHER];                                 /* the corrected mean, for backward */
    float squares[TOGETHER];
    bool some_outside; /* a sum of squares left float's range */
} some_rows;

/* The sums of d = x - mean and of d^2 over a row, not yet added across lanes. Even and odd vectors
 * are summed separately. */
typedef struct lane_sums {
    vf d, squares;
} lane_sums;

/* LayerNorm's first reading, for the mean, sums no squares. */
NL_INLINE void add_lanes(lane_sums *s, nl_dtype t, const void *x, size_t i, size_t k, vf mean,
                         bool centred, bool squares) {
    vf d = vload(t, x, i, k);
    if (centred && squares) d = vkeep(d - mean, k);
    if (centred) s->d += d;
    if (squares) s->squares = vfma(d, d, s->squares);
}

NL_INLINE lane_sums sum_lanes(nl_dtype t, const void *x, row_shape shape, float m, bool centred,
                              bool squares) {
    const vf mean = vset(m);
    lane_sums even = {vset(0), vset(0)}, odd = even;
    size_t j = 0;
#pragma GCC unroll 2
    for (; j + 2 < shape.vectors; j += 2) {
        add_lanes(&even, t, x, j * VLEN, VLEN, mean, centred, squares);
        add_lanes(&odd, t, x, (j + 1) * VLEN, VLEN, mean, centred, squares);
    }
    if (j + 1 < shape.vectors) {
        add_lanes(&even, t, x, j * VLEN, VLEN, mean, centred, squares);
        add_lanes(&odd, t, x, (j + 1) * VLEN, shape.last, mean, centred, squares);
    } else {
        add_lanes(&even, t, x, j * VLEN, shape.last, mean, centred, squares);
    }
    return (lane_sums){even.d + odd.d, even.squares + odd.squares};
}

/* Reduces each row's vector to one sum. */
NL_INLINE void reduce(const vf *of_rows, size_t rows, float *sums) {
    if (rows == 1)
        sums[0] = vsum(of_rows[0]);
    else
        vstore(NL_F32, sums, 0, VLEN, vsums(of_rows));
}

/* The statistics of rows [0, rows) from their sums, as in from_sums() and out_of_range(). */
NL_INLINE void finish_rows(some_rows *s, size_t rows, const float *d, double per_c, float eps) {
#pragma omp simd
    for (size_t a = 0; a < rows; a++) {
        const double sum = d ? d[a] : 0, c = sum * per_c, var = (s->squares[a] - c * sum) * per_c;
        const float rstd = 1 / sqrtf((float)var + eps);
        s->rstd[a] = rstd;
        if (d) s->shift[a] = (float)c * rstd, s->saved[a] = s->mean[a] + (float)c;
    }
    int inside = 0;
    const float least = eps < 0x1p-96f ? 0x1p-96f : 0;
#pragma omp simd reduction(+ : inside)
    for (size_t a = 0; a < rows; a++)
        inside += (s->squares[a] <= FLT_MAX) & (s->squares[a] >= least);
    s->some_outside = inside != (int)rows;
}

/* Compiled once, for all shapes. */
static NL_OUTLINED void finish_layernorm(some_rows *s, const float *d, double per_c, float eps) {
    finish_rows(s, TOGETHER, d, per_c, eps);
}
static NL_OUTLINED void finish_rmsnorm(some_rows *s, double per_c, float eps) {
    finish_rows(s, TOGETHER, NULL, per_c, eps);
}

/* d is NULL for RMSNorm. */
NL_INLINE void finish(some_rows *s, size_t rows, const float *d, double per_c, float eps) {
    if (rows == 1)
        finish_rows(s, 1, d, per_c, eps);
    else if (d)
        finish_layernorm(s, d, per_c, eps);
    else
        finish_rmsnorm(s, per_c, eps);
}

/* Prefetches x of rows between which there are gaps, because hardware prefetchers stop at gaps. */
NL_INLINE void prefetch_rows(nl_view v, size_t r, size_t rows) {
    const size_t bytes = v.c * nl_dtype_size(v.t);
    for (size_t a = 0; a < rows; a++)
        for (size_t byte = 0; byte < bytes; byte += 64)
            vprefetch((const char *)nl_row(v, r + a).x + byte);
}

/* A group's first reading: LayerNorm's means, or RMSNorm's statistics. */
NL_INLINE void begin_rows(some_rows *s, nl_view v, size_t r, size_t rows, size_t count,
                          row_shape shape, bool centred) {
    const double per_c = 1 / (double)v.c;
    float d[TOGETHER] = {0};
    vf in_lanes[TOGETHER];
    if (shape.prefetches) prefetch_rows(v, r + rows, rows);
    for (size_t a = 0; a < count; a++) s->x[a] = nl_row(v, r + a).x;
    for (size_t a = count; a < rows; a++) s->x[a] = s->x[count - 1];
    for (size_t a = 0; a < rows; a++) {
        const lane_sums sums = sum_lanes(v.t, s->x[a], shape, 0, centred, !centred);
        in_lanes[a] = centred ? sums.d : sums.squares;
    }
    if (!centred) {
        reduce(in_lanes, rows, s->squares);
        finish(s, rows, NULL, per_c, v.eps);
        return;
    }
    reduce(in_lanes, rows, d);
#pragma omp simd
    for (size_t a = 0; a < rows; a++) s->mean[a] = (float)(d[a] * per_c);
}

/* LayerNorm's second reading. */
NL_INLINE void end_rows(some_rows *s, nl_view v, size_t rows, row_shape shape) {
    float d[TOGETHER] = {0};
    vf in_lanes[TOGETHER], of_squares[TOGETHER];
    for (size_t a = 0; a < rows; a++) {
        const lane_sums both = sum_lanes(v.t, s->x[a], shape, s->mean[a], true, true);
        in_lanes[a] = both.d, of_squares[a] = both.squares;
    }
    reduce(in_lanes, rows, d);
    reduce(of_squares, rows, s->squares);
    finish(s, rows, d, 1 / (double)v.c, v.eps);
}

typedef struct held_parameters {
    vf gain[HELD], beta[HELD];
} held_parameters;

NL_INLINE held_parameters hold(nl_view v, row_shape shape) {
    held_parameters held;
#pragma GCC unroll 4
    for (size_t j = 0; j < HELD; j++) {
        if (j >= shape.vectors) continue;
        const size_t k = j + 1 < shape.vectors ? (size_t)VLEN : shape.last;
        held.gain[j] = vgain(v.gamma, v.plus_one, j * VLEN, k);
        held.beta[j] = v.beta ? vload(NL_F32, v.beta, j * VLEN, k) : vset(-0.0f);
    }
    return held;
}

NL_INLINE void put_lanes(nl_view v, const some_rows *s, size_t a, void *y, row_shape shape,
                         size_t j, size_t k, const held_parameters *held, bool centred) {
    const size_t i = j * VLEN;
    const vf x = vload(v.t, s->x[a], i, k), rstd = vset(s->rstd[a]);
    const vf gain = held ? held->gain[j] : vgain(v.gamma, v.plus_one, i, k);
    vf out = x * rstd;
    if (centred) out = vfma(x - vset(s->mean[a]), rstd, vset(-s->shift[a]));
    if (!centred)
        out *= gain;
    else if (held)
        out = vfma(out, gain, held->beta[j]);
    else
        out = vfma(out, gain, v.beta ? vload(NL_F32, v.beta, i, k) : vset(-0.0f));
    if (shape.streams)
        vstream(v.t, y, i, out);
    else
        vstore(v.t, y, i, k, out);
}

/* Writes rows [a, end) of a group that begins with row r, and saves their statistics. */
NL_INLINE void put_rows(nl_view v, const some_rows *s, size_t r, size_t a, size_t end,
                        row_shape shape, const held_parameters *held, bool centred) {
    const size_t bytes = (end - a) * sizeof *s->rstd;
    if (centred && v.mean) memcpy(v.mean + r + a, s->saved + a, bytes);
    if (v.rstd) memcpy(v.rstd + r + a, s->rstd + a, bytes);
    const bool up = !overlap_in_place(&v);
    size_t left = end - a;
    for (a = up ? a : end - 1; left; left--, a += up ? 1 : (size_t)-1) {
        void *const y = nl_row(v, r + a).y;
        size_t j = 0;
#pragma GCC unroll 4
        for (; j + 1 < shape.vectors; j++) put_lanes(v, s, a, y, shape, j, VLEN, held, centred);
        put_lanes(v, s, a, y, shape, j, shape.last, held, centred);
    }
}

/* Writes a group; only `count` of its rows exist. */
NL_INLINE void put_group(const some_rows *s, const nl_view *whole, nl_view v, size_t r,
                         size_t count, row_shape shape, const held_parameters *held, bool centred) {
    if (!s->some_outside) {
        put_rows(v, s, r, 0, count, shape, held, centred);
        return;
    }
    for (size_t a = 0; a < count; a++) {
        if (out_of_range(v, (totals){0, s->squares[a]}))
            in_double(whole, r + a, centred);
        else
            put_rows(v, s, r, a, a + 1, shape, NULL, centred);
    }
}

/* All rows, in groups of `rows` (a constant). LayerNorm reads group k, writes group k - 1, and
 * reads group k again, so that the processor does not wait for means and roots. */
NL_INLINE void in_groups(const nl_view *whole, nl_view v, size_t rows, row_shape shape,
                         const held_parameters *held, bool centred) {
    const bool alternates = centred && rows > 1;
    some_rows groups[2];
    for (size_t r = 0, before = 0, count; r < v.n || before;
         r += rows, before = alternates ? count : 0) {
        some_rows *const s = &groups[alternates ? r / rows % 2 : 0];
        count = r >= v.n ? 0 : v.n - r < rows ? v.n - r : rows;
        if (count) begin_rows(s, v, r, rows, count, shape, centred);
        if (before)
            put_group(&groups[(r / rows + 1) % 2], whole, v, r - rows, before, shape, held,
                      centred);
        if (count && centred) end_rows(s, v, rows, shape);
        if (!alternates) put_group(s, whole, v, r, count, shape, held, centred);
    }
}

NL_INLINE void rows_of(const nl_view *whole, nl_view v, row_shape shape, bool centred) {
    const held_parameters held = hold(v, shape);
    in_groups(whole, v, TOGETHER, shape, &held, centred);
}

NL_INLINE void rows_by_length(const nl_view *whole, nl_view v, bool streams, bool centred) {
    const bool far = v.rows && v.rows->x.row > v.c &&
                     v.n * v.c * nl_dtype_size(v.t) > PREFETCHED * v.first_cache;
    const size_t vectors = (v.c + VLEN - 1) / VLEN, last = v.c - (vectors - 1) * VLEN;
    if (v.n <= FEW)
        in_groups(whole, v, 1, (row_shape){vectors, last, streams, false}, NULL, centred);
    else
        switch (vectors) {
        case 1: rows_of(whole, v, (row_shape){1, last, streams, far}, centred); break;
        case 2: rows_of(whole, v, (row_shape){2, last, streams, far}, centred); break;
        case 3: rows_of(whole, v, (row_shape){3, last, streams, far}, centred); break;
        case 4: rows_of(whole, v, (row_shape){4, last, streams, far}, centred); break;
        default:
            in_groups(whole, v, TOGETHER, (row_shape){vectors, last, streams, far}, NULL, centred);
        }
}

NL_INLINE void rows_of_type(const nl_view *whole, nl_dtype t, bool streams) {
    nl_view v = *whole;
    v.t = t, v.residual = v.residual_out = NULL;
    if (v.centred)
        rows_by_length(whole, v, streams, true);
    else
        rows_by_length(whole, v, streams, false);
    if (streams) vfence();
}

/* Separate functions: compilers need more than twice the time for a function twice as large. */
static NL_OUTLINED void rows_f32(const nl_view *v, bool streams) {
    rows_of_type(v, NL_F32, streams);
}
static NL_OUTLINED void rows_f16(const nl_view *v, bool streams) {
    rows_of_type(v, NL_F16, streams);
}
static NL_OUTLINED void rows_bf16(const nl_view *v, bool streams) {
    rows_of_type(v, NL_BF16, streams);
}

void rows_short_forward(const nl_problem *p, const nl_forward_args *a) {
    const nl_view v = nl_view_of(p, a);
    const bool streams = a->plan && a->plan->streams && !rows_share(&v, 64);
    switch (v.t) {
    case NL_F32: rows_f32(&v, streams); break;
    case NL_F16: rows_f16(&v, streams); break;
    case NL_BF16: rows_bf16(&v, streams); break;
    }
}
