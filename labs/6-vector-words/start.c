/* Lab 6: from scalar to vector words. LayerNorm in the words of optimized/vec/vec.h, which the build
 * compiles for each instruction set. TODO: the three functions, in vectors of VLEN elements.
 *
 * idea   TODO: what this kernel does differently, and why that is right.
 * gain   TODO: what that should save, compared with which rung.
 * fails  TODO: on which sizes or data it is slow, or less exact.
 * SPDX-License-Identifier: MIT */
#include "vec/vec.h"

/* Elements i to i + k - 1 of x, with the residual added; zero in the other lanes. */
NL_INLINE vf load_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.residual) return x;
    x += vload(row.t, row.residual, i, k);
    return row.rounds_sum ? vround(row.t, x) : x;
}

/* TODO, steps 1 and 2: sum x in vectors; vsum() adds up the lanes. The last vector of a row has
 * fewer real lanes. */
NL_INLINE float mean_of(nl_view row) {
    (void)load_x;
    (void)row;
    return 0;
}

/* TODO, steps 1 and 2: sum (x - mean)^2. What is in the lanes that are not real? */
NL_INLINE float variance_of(nl_view row, float mean) {
    (void)row, (void)mean;
    return 1;
}

/* TODO, step 3: y = gamma * (x - mean) * rstd + beta.
 *     vgain(row.gamma, row.plus_one, i, k)    the gain of k features
 *     vload(NL_F32, row.beta, i, k)           unless row.beta is NULL
 *     vround(row.t, xhat)                     before the gain, if row.cast_before_weight
 *     vstore(row.t, row.y, i, k, y)           and x to row.residual_out, unless that is NULL */
NL_INLINE void put_row(nl_view row, float mean, float rstd) {
    (void)row, (void)mean, (void)rstd;
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

NL_IMPL(.about = "TODO: a description in one line", .ops = NL_BIT(NL_LAYERNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .method = NL_TWO_PASS, .lanes = VLEN,
        .forward = forward);
