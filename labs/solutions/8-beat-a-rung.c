/* idea   Four vector accumulators for each sum, and a second reading that also measures the
 *        rounding error of the mean, as layernorm/refined.c does.
 * gain   No addition waits for the previous one: the loads decide the time. x is still read three
 *        times, two of these times from the first-level cache.
 * fails  Short rows, where the ends of the loops take longer than the loops; and tensors larger
 *        than the caches, where a store first reads y's line (rows_streaming.c avoids this).
 * SPDX-License-Identifier: MIT */
#include "vec/vec.h"

NL_INLINE vf load_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.residual) return x;
    x += vload(row.t, row.residual, i, k);
    return row.rounds_sum ? vround(row.t, x) : x;
}

NL_INLINE size_t lanes_from(nl_view row, size_t i) {
    return row.c - i < VLEN ? row.c - i : VLEN;
}

typedef struct sums {
    float d, squares;
} sums;

/* Sums d = x - m and, if squares is true, d^2. */
NL_INLINE sums sum_around(nl_view row, float m, bool squares) {
    const vf shift = vset(m);
    vf a = vset(0), b = a, c = a, d = a, aa = a, bb = a, cc = a, dd = a;
    size_t i = 0;
    for (; i + 4 * VLEN <= row.c; i += 4 * VLEN) {
        const vf p = load_x(row, i, VLEN) - shift, q = load_x(row, i + VLEN, VLEN) - shift;
        const vf r = load_x(row, i + 2 * VLEN, VLEN) - shift;
        const vf s = load_x(row, i + 3 * VLEN, VLEN) - shift;
        a += p, b += q, c += r, d += s;
        if (squares) aa = vfma(p, p, aa), bb = vfma(q, q, bb);
        if (squares) cc = vfma(r, r, cc), dd = vfma(s, s, dd);
    }
    for (; i < row.c; i += VLEN) {
        const size_t k = lanes_from(row, i);
        const vf p = vkeep(load_x(row, i, k) - shift, k);
        a += p;
        if (squares) aa = vfma(p, p, aa);
    }
    return (sums){vsum(a + b + (c + d)), vsum(aa + bb + (cc + dd))};
}

NL_INLINE void put(nl_view row, float mean, float error, float rstd, size_t i, size_t k) {
    const vf x = load_x(row, i, k);
    vf y = (x - vset(mean) - vset(error)) * vset(rstd);
    if (row.residual_out) vstore(row.t, row.residual_out, i, k, x);
    if (row.cast_before_weight) y = vround(row.t, y);
    y *= vgain(row.gamma, row.plus_one, i, k);
    if (row.beta) y += vload(NL_F32, row.beta, i, k);
    vstore(row.t, row.y, i, k, y);
}

/* The constant VLEN is faster than a variable k. */
NL_INLINE void put_row(nl_view row, float mean, float error, float rstd) {
    size_t i = 0;
    for (; i + VLEN <= row.c; i += VLEN) put(row, mean, error, rstd, i, VLEN);
    if (i < row.c) put(row, mean, error, rstd, i, lanes_from(row, i));
}

NL_INLINE void layernorm(nl_view v) {
    const float per_c = 1 / (float)v.c;
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        const float first = nl_x(row, 0);
        const float mean = first + sum_around(row, first, false).d * per_c;
        const sums s = sum_around(row, mean, true);
        const float error = s.d * per_c; /* the rounding error of the mean */
        const float var = s.squares * per_c - error * error;
        const float rstd = 1 / sqrtf((var > 0 ? var : var < 0 ? 0 : var) + v.eps);
        put_row(row, mean, error, rstd);
        nl_keep(row, mean + error, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "refined, in four vectors", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .method = NL_REFINED, .lanes = VLEN,
        .forward = forward);
