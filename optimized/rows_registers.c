/* idea   Up to eight vectors a row, gamma and beta included: what is in registers can be read as often
 *        as one likes, so the mean is refined for nothing.
 * gain   Short rows, where loops never get going. Wider ones go the way of rows_pipelined.
 * fails  Nothing is summed while the row before is written, other than what the processor finds
 *        itself; it finds enough.
 * SPDX-License-Identifier: MIT */
#include "rows.h"

NL_DECLARE(optimized_rows_pipelined);

NL_INLINE size_t lanes_of(nl_view v, int a) {
    const size_t begin = (size_t)a * VLEN;
    return v.c <= begin ? 0 : v.c - begin < VLEN ? v.c - begin : VLEN;
}

NL_INLINE float sum_of(vf *x, int vectors) {
#pragma GCC unroll 4
    for (int half = vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 4
        for (int a = 0; a < half; a++) x[a] += x[a + half];
    return vsum(x[0]);
}

NL_INLINE stats stats_of(nl_view row, double per, const vf *x, int vectors, bool centred) {
    vf sum[8], squares[8];
    float m = 0;
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) sum[a] = x[a];
    if (centred) m = (float)(sum_of(sum, vectors) * per);
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        vf d = x[a];
        if (centred) d = vkeep(d - vset(m), lanes_of(row, a));
        sum[a] = d;
        squares[a] = d * d;
    }
    pair s = {centred ? sum_of(sum, vectors) : 0, sum_of(squares, vectors)};
    stats result = from_sums(row, per, m, s);
    result.in_double = out_of_range(row, s);
    return result;
}

NL_INLINE void short_rows(nl_view v, int vectors, bool centred) {
    const double per = 1 / (double)v.c;
    const nl_view whole = v;
    vf gain[8], beta[8], x[8];
#pragma GCC unroll 8
    for (int a = 0; a < vectors; a++) {
        const size_t i = lanes_of(v, a) ? (size_t)a * VLEN : 0, k = lanes_of(v, a);
        gain[a] = vset(1);
        if (v.gamma) gain[a] = vload(NL_F32, v.gamma, i, k);
        if (v.gamma && v.plus_one) gain[a] += vset(1);
        beta[a] = vset(0);
        if (v.beta) beta[a] = vload(NL_F32, v.beta, i, k);
    }
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r);
#pragma GCC unroll 8
        for (int a = 0; a < vectors; a++)
            x[a] = vload(v.t, row.x, lanes_of(v, a) ? (size_t)a * VLEN : 0, lanes_of(v, a));
        const stats s = stats_of(row, per, x, vectors, centred);
        if (s.in_double) {
            in_double(&whole, r, centred);
            continue;
        }
        nl_keep(row, s.m + s.c, s.rstd);
#pragma GCC unroll 8
        for (int a = 0; a < vectors; a++) {
            vf y = x[a] * vset(s.rstd);
            if (centred) y = vfma(x[a] - vset(s.m), vset(s.rstd), vset(-s.shift));
            if (centred)
                y = vfma(y, gain[a], beta[a]);
            else
                y *= gain[a];
            if (lanes_of(v, a)) vstore(v.t, row.y, (size_t)a * VLEN, lanes_of(v, a), y);
        }
    }
}

NL_INLINE void rows_of(nl_view v, nl_dtype t, bool centred) {
    v.t = t;
    if (v.c <= VLEN)
        short_rows(v, 1, centred);
    else if (v.c <= 2 * VLEN)
        short_rows(v, 2, centred);
    else if (v.c <= 4 * VLEN)
        short_rows(v, 4, centred);
    else
        short_rows(v, 8, centred);
}

NL_INLINE void short_rows_of_layer(nl_view v, bool centred) {
    switch (v.t) {
    case NL_F32: rows_of(v, NL_F32, centred); break;
    case NL_F16: rows_of(v, NL_F16, centred); break;
    case NL_BF16: rows_of(v, NL_BF16, centred); break;
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    const nl_view v = nl_view_of(p, a);
    const bool centred = p->op == NL_LAYERNORM;
    if (v.c > 8 * VLEN || v.residual || v.cast_before_weight)
        NL_OTHER(optimized_rows_pipelined)->forward(p, a, threads);
    else if (centred)
        short_rows_of_layer(v, true);
    else
        short_rows_of_layer(v, false);
}

NL_IMPL(.about = "short rows kept in registers", .ops = ROW_NORMS, .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 6, .range_safe = true, .method = NL_REFINED, .lanes = VLEN,
        .forward = forward);
