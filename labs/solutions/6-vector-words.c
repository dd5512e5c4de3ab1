/* idea   Two passes in vector words, with four vectors for each sum: four additions run at the same
 *        time. The last vector of a row has k real lanes; vkeep clears the others after x - mean,
 *        when they are no longer zero.
 * gain   4 * VLEN chains of additions instead of one.
 * fails  Rows of fewer than four vectors, which use one chain; rows from memory, where the loads
 *        take the time.
 * SPDX-License-Identifier: MIT */
#include "vec/vec.h"

/* Elements i to i + k - 1 of x, with the residual added; zero in the other lanes. */
NL_INLINE vf load_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.residual) return x;
    x += vload(row.t, row.residual, i, k);
    return row.rounds_sum ? vround(row.t, x) : x;
}

/* The lanes that are real from element i on. */
NL_INLINE size_t lanes_from(nl_view row, size_t i) {
    return row.c - i < VLEN ? row.c - i : VLEN;
}

enum { STEP = 4 * VLEN };

NL_INLINE float mean_of(nl_view row) {
    vf a = vset(0), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + STEP <= row.c; i += STEP) {
        a += load_x(row, i, VLEN);
        b += load_x(row, i + VLEN, VLEN);
        c += load_x(row, i + 2 * VLEN, VLEN);
        d += load_x(row, i + 3 * VLEN, VLEN);
    }
    for (; i < row.c; i += VLEN) a += load_x(row, i, lanes_from(row, i));
    return vsum((a + b) + (c + d)) / (float)row.c;
}

NL_INLINE vf add_square(vf sum, nl_view row, size_t i, size_t k, vf mean) {
    vf d = vkeep(load_x(row, i, k) - mean, k);
    return vfma(d, d, sum);
}

NL_INLINE float variance_of(nl_view row, float mean) {
    vf a = vset(0), b = a, c = a, d = a, m = vset(mean);
    size_t i = 0;
    for (; i + STEP <= row.c; i += STEP) {
        a = add_square(a, row, i, VLEN, m);
        b = add_square(b, row, i + VLEN, VLEN, m);
        c = add_square(c, row, i + 2 * VLEN, VLEN, m);
        d = add_square(d, row, i + 3 * VLEN, VLEN, m);
    }
    for (; i < row.c; i += VLEN) a = add_square(a, row, i, lanes_from(row, i), m);
    return vsum((a + b) + (c + d)) / (float)row.c;
}

NL_INLINE void put_row(nl_view row, float mean, float rstd) {
    for (size_t i = 0; i < row.c; i += VLEN) {
        const size_t k = lanes_from(row, i);
        vf x = load_x(row, i, k), y = (x - vset(mean)) * vset(rstd);
        if (row.residual_out) vstore(row.t, row.residual_out, i, k, x);
        if (row.cast_before_weight) y = vround(row.t, y);
        y *= vgain(row.gamma, row.plus_one, i, k);
        if (row.beta) y += vload(NL_F32, row.beta, i, k);
        vstore(row.t, row.y, i, k, y);
    }
}

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        float mean = mean_of(row);
        float rstd = 1 / sqrtf(variance_of(row, mean) + v.eps);
        put_row(row, mean, rstd);
        nl_keep(row, mean, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

NL_IMPL(.about = "two-pass in vector words, four sums", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .method = NL_TWO_PASS,
        .lanes = 4 * VLEN, .forward = forward);
