/* idea   Short rows, one vector's lanes of them at a time: their sums are reduced together, so that
 *        all lanes of a vector hold sums, and the statistics of all these rows are computed at once.
 *        Gamma and beta of up to four vectors stay in registers. It refuses wider rows; a residual
 *        or a cast before the weight takes the loops of rows/forward.c. Rows that are whole lines are
 *        stored past the caches where the plan says so.
 * gain   Reducing a vector to one number, the root and the division take longer than a short row
 *        does. Together, 16 rows take little more than one.
 * fails  Few rows; and long ones, which leave the first-level cache before they are written.
 * SPDX-License-Identifier: MIT */
#include "rows/output.h"

enum { WIDEST = 256, HELD = 4, TOGETHER = VLEN, FEW = VLEN / 4 };

/* Vectors of a row, if at most HELD a constant, and the lanes of the last one. */
typedef struct row_shape {
    size_t vectors, last;
    bool streams;
} row_shape;

NL_INLINE size_t lanes_at(row_shape shape, size_t j) {
    return j + 1 < shape.vectors ? (size_t)VLEN : shape.last;
}

/* The sums over a row, still lane by lane: of d = x - m and of d^2. Even vectors and odd ones are
 * added up apart. */
typedef struct lane_sums {
    vf d, squares;
} lane_sums;

NL_INLINE lane_sums sum_lanes(nl_view row, row_shape shape, float mean, bool centred,
                              bool squared) {
    vf d[2] = {vset(0), vset(0)}, squares[2] = {vset(0), vset(0)};
#pragma GCC unroll 4
    for (size_t j = 0; j < shape.vectors; j++) {
        const size_t k = lanes_at(shape, j);
        vf x = vload(row.t, row.x, j * VLEN, k);
        if (centred && squared) x = vkeep(x - vset(mean), k);
        if (centred) d[j % 2] += x;
        if (squared) squares[j % 2] = vfma(x, x, squares[j % 2]);
    }
    return (lane_sums){d[0] + d[1], squares[0] + squares[1]};
}

/* Sums of so many rows, one in each lane. */
NL_INLINE void reduce(const vf *of_rows, size_t rows, float *sums) {
    if (rows == 1)
        sums[0] = vsum(of_rows[0]);
    else
        vstore(NL_F32, sums, 0, VLEN, vsums(of_rows));
}

typedef struct held_parameters {
    vf gain[HELD], beta[HELD];
} held_parameters;

NL_INLINE held_parameters hold(nl_view v, row_shape shape) {
    held_parameters held;
#pragma GCC unroll 4
    for (size_t j = 0; j < HELD; j++) {
        if (j >= shape.vectors) continue;
        const size_t k = lanes_at(shape, j);
        held.gain[j] = vgain(v.gamma, v.plus_one, j * VLEN, k);
        held.beta[j] = v.beta ? vload(NL_F32, v.beta, j * VLEN, k) : vset(0);
    }
    return held;
}

NL_INLINE void put_short(nl_view row, row_shape shape, stats s, const held_parameters *held,
                         bool centred) {
    nl_keep(row, s.m + s.c, s.rstd);
#pragma GCC unroll 4
    for (size_t j = 0; j < shape.vectors; j++) {
        const size_t i = j * VLEN, k = lanes_at(shape, j);
        const vf x = vload(row.t, row.x, i, k);
        vf y = x * vset(s.rstd), gain, beta = vset(0);
        if (held && shape.vectors <= HELD) {
            gain = held->gain[j], beta = held->beta[j];
        } else {
            gain = vgain(row.gamma, row.plus_one, i, k);
            if (row.beta) beta = vload(NL_F32, row.beta, i, k);
        }
        if (centred)
            y = vfma(vfma(x - vset(s.m), vset(s.rstd), vset(-s.shift)), gain, beta);
        else
            y *= gain;
        if (shape.streams)
            vstream(row.t, row.y, i, y);
        else
            vstore(row.t, row.y, i, k, y);
    }
}

/* So many rows from r on, a constant; where `count` are fewer, the last stands for the rest. */
NL_INLINE void some_rows(const nl_view *whole, nl_view v, size_t r, size_t rows, size_t count,
                         row_shape shape, const held_parameters *held, bool centred) {
    const double per_c = 1 / (double)v.c;
    vf d[TOGETHER], squares[TOGETHER];
    float mean[TOGETHER] = {0}, sum_d[TOGETHER] = {0}, sum_squares[TOGETHER];
    stats s[TOGETHER];
    for (size_t a = 0; centred && a < rows; a++)
        d[a] = sum_lanes(nl_row(v, r + (a < count ? a : count - 1)), shape, 0, true, false).d;
    if (centred) reduce(d, rows, mean);
    for (size_t a = 0; centred && a < rows; a++) mean[a] = (float)(mean[a] * per_c);
    for (size_t a = 0; a < rows; a++) {
        const nl_view row = nl_row(v, r + (a < count ? a : count - 1));
        const lane_sums both = sum_lanes(row, shape, mean[a], centred, true);
        d[a] = both.d, squares[a] = both.squares;
    }
    if (centred) reduce(d, rows, sum_d);
    reduce(squares, rows, sum_squares);
    for (size_t a = 0; a < rows; a++)
        s[a] = from_sums(v, per_c, mean[a], (totals){sum_d[a], sum_squares[a]});
    for (size_t a = 0; a < count; a++) {
        if (out_of_range(v, (totals){0, sum_squares[a]}))
            in_double(whole, r + a, centred);
        else
            put_short(nl_row(v, r + a), shape, s[a], held, centred);
    }
}

NL_INLINE void rows_of(const nl_view *whole, nl_view v, row_shape shape, bool centred) {
    const held_parameters held = hold(v, shape);
    for (size_t r = 0; r < v.n; r += TOGETHER)
        some_rows(whole, v, r, TOGETHER, v.n - r < TOGETHER ? v.n - r : TOGETHER, shape, &held,
                  centred);
}

NL_INLINE void rows_by_length(const nl_view *whole, nl_view v, bool streams, bool centred) {
    const size_t vectors = (v.c + VLEN - 1) / VLEN, last = v.c - (vectors - 1) * VLEN;
    if (v.n <= FEW)
        for (size_t r = 0; r < v.n; r++)
            some_rows(whole, v, r, 1, 1, (row_shape){vectors, last, streams}, NULL, centred);
    else
        switch (VLEN < 8 ? HELD + 1 : vectors) {
        case 1: rows_of(whole, v, (row_shape){1, last, streams}, centred); break;
        case 2: rows_of(whole, v, (row_shape){2, last, streams}, centred); break;
        case 3: rows_of(whole, v, (row_shape){3, last, streams}, centred); break;
        case 4: rows_of(whole, v, (row_shape){4, last, streams}, centred); break;
        default: rows_of(whole, v, (row_shape){vectors, last, streams}, centred);
        }
}

NL_INLINE void rows_of_type(const nl_view *whole, nl_dtype t, bool streams) {
    nl_view v = *whole;
    const size_t bytes = (v.c | v.y_stride.row | v.y_stride.outer) * nl_dtype_size(t);
    streams = streams && ((uintptr_t)v.y | bytes) % 64 == 0;
    v.t = t, v.residual = v.residual_out = NULL;
    if (v.centred)
        rows_by_length(whole, v, streams, true);
    else
        rows_by_length(whole, v, streams, false);
    if (streams) vfence();
}

/* Functions of their own: compilers take more than twice the time for one of twice the size. */
static NL_OUTLINED void rows_f32(const nl_view *v, bool streams) {
    rows_of_type(v, NL_F32, streams);
}
static NL_OUTLINED void rows_f16(const nl_view *v, bool streams) {
    rows_of_type(v, NL_F16, streams);
}
static NL_OUTLINED void rows_bf16(const nl_view *v, bool streams) {
    rows_of_type(v, NL_BF16, streams);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    const nl_view v = nl_view_of(p, a);
    const bool streams = a->plan && a->plan->streams;
    if (v.residual || v.cast_before_weight) {
        rows_forward(p, a, (row_recipe){.statistics = CERTIFIED, .streaming = streams});
        return;
    }
    switch (v.t) {
    case NL_F32: rows_f32(&v, streams); break;
    case NL_F16: rows_f16(&v, streams); break;
    case NL_BF16: rows_bf16(&v, streams); break;
    }
}

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN},
                                          {NL_OF_C, 2 * VLEN},
                                          {NL_OF_C, HELD *VLEN},
                                          {NL_OF_C, WIDEST},
                                          {NL_OF_N, FEW + 1},
                                          {NL_OF_N, TOGETHER + 1},
                                          {0}};

NL_IMPL(.about = "short rows, as many together as a vector has lanes", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .c_max = WIDEST,
        .thresholds = thresholds, .strided = true, .heeds_stores = true, .range_safe = true,
        .method = NL_REFINED, .lanes = 2 * VLEN, .forward = forward);
