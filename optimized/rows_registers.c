/* idea   Rows of up to eight vectors, or four where there are 16 registers, without loops. Gamma and
 *        beta stay in registers, and a row stays there or near: the mean is refined at little cost.
 * gain   Short rows, where the overhead of loops dominates. With 32 registers LayerNorm's mean,
 *        variance and output are of three rows at a time, for they wait for each other. It refuses
 *        wider rows; a residual or a cast before the weight takes the loops of rows/forward.c.
 * fails  LayerNorm's rows of five to eight vectors: too many values for the registers.
 * SPDX-License-Identifier: MIT */
#include "rows/output.h"

enum { VECTORS = REGISTERS / 4 };

NL_INLINE float sum_of(vf *x, int vectors) {
#pragma GCC unroll 4
    for (int half = vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 4
        for (int a = 0; a < half; a++) x[a] += x[a + half];
    return vsum(x[0]);
}

/* The vectors of a row. */
typedef struct held_row {
    vf v[VECTORS];
} held_row;

NL_INLINE held_row load_row(nl_view row, int vectors) {
    held_row x;
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        const size_t k = lanes_of(row.c, (size_t)a);
        x.v[a] = vload(row.t, row.x, k ? (size_t)a * VLEN : 0, k);
    }
    return x;
}

NL_INLINE float mean_of(held_row x, double per_c, int vectors) {
    return (float)(sum_of(x.v, vectors) * per_c);
}

/* The statistics of x, summed around m: the rounded mean, or 0 in RMSNorm. */
NL_INLINE stats stats_of(nl_view row, double per_c, held_row x, float m, int vectors,
                         bool centred) {
    held_row d = x, squares;
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        if (centred) d.v[a] = vkeep(d.v[a] - vset(m), lanes_of(row.c, (size_t)a));
        squares.v[a] = d.v[a] * d.v[a];
    }
    totals s = {centred ? sum_of(d.v, vectors) : 0, sum_of(squares.v, vectors)};
    stats result = from_sums(row, per_c, m, s);
    result.in_double = out_of_range(row, s);
    return result;
}

typedef struct parameters {
    held_row gain, beta;
} parameters;

NL_INLINE parameters load_parameters(nl_view v, int vectors) {
    parameters p;
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        const size_t k = lanes_of(v.c, (size_t)a), i = k ? (size_t)a * VLEN : 0;
        p.gain.v[a] = vgain(v.gamma, v.plus_one, i, k);
        p.beta.v[a] = v.beta ? vload(NL_F32, v.beta, i, k) : vset(0);
    }
    return p;
}

NL_INLINE void put_held(nl_view row, held_row x, stats s, parameters p, int vectors, bool centred) {
    nl_keep(row, s.m + s.c, s.rstd);
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        const size_t k = lanes_of(row.c, (size_t)a);
        vf y = x.v[a] * vset(s.rstd);
        if (centred) y = vfma(x.v[a] - vset(s.m), vset(s.rstd), vset(-s.shift));
        if (centred)
            y = vfma(y, p.gain.v[a], p.beta.v[a]);
        else
            y *= p.gain.v[a];
        if (k) vstore(row.t, row.y, (size_t)a * VLEN, k, y);
    }
}

NL_INLINE void short_rows(nl_view v, int vectors, bool centred) {
    const double per_c = 1 / (double)v.c;
    const nl_view whole = v;
    const parameters p = load_parameters(v, vectors);
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r);
        const held_row x = load_row(row, vectors);
        const float m = centred ? mean_of(x, per_c, vectors) : 0;
        const stats s = stats_of(row, per_c, x, m, vectors, centred);
        if (s.in_double)
            in_double(&whole, r, centred);
        else
            put_held(row, x, s, p, vectors, centred);
    }
}

/* LayerNorm's mean, its variance and its output wait for each other. Here each is another row's:
 * the output of row r, the variance of the next, and the mean of the one after that. */
NL_INLINE void staged_rows(nl_view v, int vectors) {
    const double per_c = 1 / (double)v.c;
    const nl_view whole = v;
    const parameters p = load_parameters(v, vectors);
    if (v.n == 0) return;
    float m = mean_of(load_row(v, vectors), per_c, vectors);
    stats next = stats_of(v, per_c, load_row(v, vectors), m, vectors, true);
    if (v.n > 1) m = mean_of(load_row(nl_row(v, 1), vectors), per_c, vectors);
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r), after = nl_row(v, r + 1);
        const stats s = next;
        if (r + 1 < v.n) next = stats_of(after, per_c, load_row(after, vectors), m, vectors, true);
        if (r + 2 < v.n) m = mean_of(load_row(nl_row(v, r + 2), vectors), per_c, vectors);
        if (s.in_double)
            in_double(&whole, r, true);
        else
            put_held(row, load_row(row, vectors), s, p, vectors, true);
    }
}

NL_INLINE void rows_of(nl_view v, int vectors, bool centred) {
    if (centred && REGISTERS > 16)
        staged_rows(v, vectors);
    else
        short_rows(v, vectors, centred);
}

NL_INLINE void rows_by_length(nl_view v, bool centred) {
    if (v.c <= VLEN)
        rows_of(v, 1, centred);
    else if (v.c <= 2 * VLEN)
        rows_of(v, 2, centred);
    else if (v.c <= 4 * VLEN)
        rows_of(v, 4, centred);
    else
        rows_of(v, VECTORS, centred);
}

NL_INLINE void rows_of_type(const nl_view *whole, nl_dtype t) {
    nl_view v = *whole;
    v.t = t, v.residual = v.residual_out = NULL;
    if (v.centred)
        rows_by_length(v, true);
    else
        rows_by_length(v, false);
}

/* Functions of their own: compilers take more than twice the time for one of twice the size. */
static NL_OUTLINED void rows_f32(const nl_view *v) {
    rows_of_type(v, NL_F32);
}
static NL_OUTLINED void rows_f16(const nl_view *v) {
    rows_of_type(v, NL_F16);
}
static NL_OUTLINED void rows_bf16(const nl_view *v) {
    rows_of_type(v, NL_BF16);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    const nl_view v = nl_view_of(p, a);
    if (v.residual || v.cast_before_weight) {
        rows_forward(p, a, (row_recipe){.statistics = CERTIFIED});
        return;
    }
    switch (v.t) {
    case NL_F32: rows_f32(&v); break;
    case NL_F16: rows_f16(&v); break;
    case NL_BF16: rows_bf16(&v); break;
    }
}

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN},
                                          {NL_OF_C, 2 * VLEN},
                                          {NL_OF_C, 4 * VLEN},
                                          {NL_OF_C, VECTORS *VLEN},
                                          {0}};

NL_IMPL(.about = "rows of up to eight vectors, without loops", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .c_max = VECTORS * VLEN,
        .thresholds = thresholds, .rank = 6, .range_safe = true, .method = NL_REFINED,
        .lanes = VLEN, .forward = forward);
