/* The mistake: the last vector of a row is loaded whole and its end is cleared afterwards. The
 * sums are right, but the load reads past the end of x.
 * SPDX-License-Identifier: MIT */
// expect: points 15..15
// expect: wrong every width
// expect: wrong 16-bit storage
// expect: wrong residual and arguments
// expect: wrong uneven data
// expect: wrong subnormals
// expect: hint past its end
#include "vec.h"

/* Elements i to i + k - 1 of x, with their residual; zero in the other lanes. */
NL_INLINE vf load_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (row.residual) x += vload(row.t, row.residual, i, k);
    return x;
}

/* The lanes that are real from element i on. */
NL_INLINE size_t lanes_from(nl_view row, size_t i) {
    return row.c - i < VLEN ? row.c - i : VLEN;
}

NL_INLINE float mean_of(nl_view row) {
    vf sum = vset(0);
    for (size_t i = 0; i < row.c; i += VLEN) {
        const size_t k = lanes_from(row, i);
        sum += vkeep(load_x(row, i, VLEN), k);
    }
    return vsum(sum) / (float)row.c;
}

NL_INLINE float variance_of(nl_view row, float mean) {
    vf sum = vset(0);
    for (size_t i = 0; i < row.c; i += VLEN) {
        const size_t k = lanes_from(row, i);
        vf d = vkeep(load_x(row, i, k) - vset(mean), k);
        sum = vfma(d, d, sum);
    }
    return vsum(sum) / (float)row.c;
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

NL_IMPL(.about = "loads whole vectors", .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_VEC_DTYPES, .method = NL_TWO_PASS, .lanes = VLEN, .forward = forward);
