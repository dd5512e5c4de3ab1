/* idea   TODO: how threads divide the work, and why the bits do not depend on their number.
 * gain   TODO: on how many threads, for which shapes.
 * fails  TODO: for which shapes threads do not pay.
 * SPDX-License-Identifier: MIT */
#include "parallel.h"
#include "vec/vec.h"

/* RMSNorm on one thread. A row is summed in pieces, each by itself; the sums of the pieces are
 * added from first to last. */
enum { PIECE = 4096 };

/* Elements i to i + k - 1 of x, with the residual added; zero in the other lanes. */
NL_INLINE vf load_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.residual) return x;
    x += vload(row.t, row.residual, i, k);
    return row.rounds_sum ? vround(row.t, x) : x;
}

/* The sum of the squares of the elements from begin to end - 1, in four vectors. */
NL_INLINE float sum_piece(nl_view row, size_t begin, size_t end) {
    vf a = vset(0), b = a, c = a, d = a;
    size_t i = begin;
    for (; i + 4 * VLEN <= end; i += 4 * VLEN) {
        const vf p = load_x(row, i, VLEN), q = load_x(row, i + VLEN, VLEN);
        const vf r = load_x(row, i + 2 * VLEN, VLEN), s = load_x(row, i + 3 * VLEN, VLEN);
        a += p * p, b += q * q, c += r * r, d += s * s;
    }
    for (; i < end; i += VLEN) {
        const vf p = load_x(row, i, end - i < VLEN ? end - i : VLEN);
        a += p * p;
    }
    return vsum(a + b + (c + d));
}

NL_INLINE float sum_row(nl_view row) {
    float sum = 0;
    for (size_t begin = 0; begin < row.c; begin += PIECE) /* TODO */
        sum += sum_piece(row, begin, row.c - begin < PIECE ? row.c : begin + PIECE);
    return sum;
}

NL_INLINE void put(nl_view row, float rstd, size_t i, size_t k) {
    const vf x = load_x(row, i, k);
    vf xhat = x * vset(rstd);
    if (row.residual_out) vstore(row.t, row.residual_out, i, k, x);
    if (row.cast_before_weight) xhat = vround(row.t, xhat);
    vstore(row.t, row.y, i, k, xhat * vgain(row.gamma, row.plus_one, i, k));
}

/* Writes the elements from begin to end - 1 of y. The constant VLEN is faster than a variable k. */
NL_INLINE void put_piece(nl_view row, float rstd, size_t begin, size_t end) {
    size_t i = begin;
    for (; i + VLEN <= end; i += VLEN) put(row, rstd, i, VLEN);
    if (i < end) put(row, rstd, i, end - i);
}

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) { /* TODO */
        nl_view row = nl_row(v, r);
        const float rstd = 1 / sqrtf(sum_row(row) / (float)v.c + v.eps);
        put_piece(row, rstd, 0, v.c);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads; /* TODO */
    nl_with_type(p, a, rmsnorm);
}

/* TODO .threaded, and .scratch for the sums of the pieces. */
NL_IMPL(.about = "TODO", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_VEC_DTYPES, .method = NL_TWO_PASS, .lanes = 4 * VLEN, .forward = forward);
