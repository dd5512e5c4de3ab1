/* idea   Rows of up to eight vectors, or four where there are 16 registers, stay in registers, with
 *        gamma and beta. Reading registers again is free, so the mean is refined at no cost.
 * gain   Short rows, where the overhead of loops dominates. It refuses wider ones; a residual or a
 *        cast before the weight takes the loops of rows.h.
 * fails  Only out-of-order execution overlaps the sums of a row with the output of the row before;
 *        that is enough.
 * SPDX-License-Identifier: MIT */
#include "rows.h"

enum { VECTORS = REGISTERS / 4 };

NL_INLINE float sum_of(vf *x, int vectors) {
#pragma GCC unroll 4
    for (int half = vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 4
        for (int a = 0; a < half; a++) x[a] += x[a + half];
    return vsum(x[0]);
}

NL_INLINE stats stats_of(nl_view row, double per_c, const vf *x, int vectors, bool centred) {
    vf sum[VECTORS], squares[VECTORS];
    float m = 0;
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) sum[a] = x[a];
    if (centred) m = (float)(sum_of(sum, vectors) * per_c);
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        vf d = x[a];
        if (centred) d = vkeep(d - vset(m), lanes_of(row.c, (size_t)a));
        sum[a] = d;
        squares[a] = d * d;
    }
    totals s = {centred ? sum_of(sum, vectors) : 0, sum_of(squares, vectors)};
    stats result = from_sums(row, per_c, m, s);
    result.in_double = out_of_range(row, s);
    return result;
}

NL_INLINE void short_rows(nl_view v, int vectors, bool centred) {
    const double per_c = 1 / (double)v.c;
    const nl_view whole = v;
    vf gain[VECTORS], beta[VECTORS], x[VECTORS];
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        const size_t k = lanes_of(v.c, (size_t)a), i = k ? (size_t)a * VLEN : 0;
        gain[a] = vgain(v.gamma, v.plus_one, i, k);
        beta[a] = v.beta ? vload(NL_F32, v.beta, i, k) : vset(0);
    }
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r);
#pragma GCC unroll 8
        for (int a = 0; a < vectors; a++) {
            const size_t k = lanes_of(v.c, (size_t)a);
            x[a] = vload(v.t, row.x, k ? (size_t)a * VLEN : 0, k);
        }
        const stats s = stats_of(row, per_c, x, vectors, centred);
        if (s.in_double) {
            in_double(&whole, r, centred);
            continue;
        }
        nl_keep(row, s.m + s.c, s.rstd);
#pragma GCC unroll 8
        for (int a = 0; a < vectors; a++) {
            const size_t k = lanes_of(v.c, (size_t)a);
            vf y = x[a] * vset(s.rstd);
            if (centred) y = vfma(x[a] - vset(s.m), vset(s.rstd), vset(-s.shift));
            if (centred)
                y = vfma(y, gain[a], beta[a]);
            else
                y *= gain[a];
            if (k) vstore(v.t, row.y, (size_t)a * VLEN, k, y);
        }
    }
}

NL_INLINE void rows_by_length(nl_view v, bool centred) {
    if (v.c <= VLEN)
        short_rows(v, 1, centred);
    else if (v.c <= 2 * VLEN)
        short_rows(v, 2, centred);
    else if (v.c <= 4 * VLEN)
        short_rows(v, 4, centred);
    else
        short_rows(v, VECTORS, centred);
}

NL_INLINE void rows_of_type(nl_dtype t, const void *view) {
    nl_view v = *(const nl_view *)view;
    v.t = t, v.residual = v.residual_out = NULL;
    if (v.centred)
        rows_by_length(v, true);
    else
        rows_by_length(v, false);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    const nl_view v = nl_view_of(p, a);
    if (v.residual || v.cast_before_weight)
        rows_in_general(v, (row_recipe){.statistics = CERTIFIED});
    else
        nl_with_dtype(v.t, rows_of_type, &v);
}

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN},
                                          {NL_OF_C, 2 * VLEN},
                                          {NL_OF_C, 4 * VLEN},
                                          {NL_OF_C, VECTORS *VLEN},
                                          {0}};

NL_IMPL(.about = "rows of up to eight vectors, kept in registers", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .c_max = VECTORS * VLEN,
        .thresholds = thresholds, .rank = 6, .range_safe = true, .method = NL_REFINED,
        .lanes = VLEN, .forward = forward);
