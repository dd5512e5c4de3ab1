/* Lab 4: sixteen bits without tears. RMSNorm of x in bf16 or f16; the arithmetic is float. What is
 * rounded to 16 bits, and where, decides whether y is right. bf16 works, as an example.
 * TODO: f16, the cast before the weight, the residual.
 *
 * idea   TODO: what this kernel does differently, and why that is right.
 * gain   TODO: what that should save, compared with which rung.
 * fails  TODO: on which sizes or data it is slow, or less exact.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

/* bfloat16 is the upper half of a float: 1 bit of sign, 8 of exponent, 7 of significand. */
NL_INLINE float from_bf16(uint16_t h) {
    return nl_from_bits((uint32_t)h << 16);
}

/* Rounds to nearest, ties to even: the addition carries into the upper half to round it up. */
NL_INLINE uint16_t to_bf16(float f) {
    uint32_t u = nl_bits(f);
    if (f != f) return (uint16_t)(u >> 16 | 0x40); /* a NaN stays a NaN */
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* binary16: 1 bit of sign, 5 of exponent with a bias of 15, 10 of significand. */
/* TODO, step 2: normal numbers, then zeros and subnormals, then Inf and NaN. */
NL_INLINE float from_f16(uint16_t h) {
    (void)h;
    return 0;
}

/* TODO, step 3: to nearest, ties to even; subnormals; Inf from 65520 on; NaN. */
NL_INLINE uint16_t to_f16(float f) {
    (void)f;
    return 0;
}

NL_INLINE float load(nl_dtype t, const void *p, size_t i) {
    uint16_t h = ((const uint16_t *)p)[i];
    return t == NL_F16 ? from_f16(h) : from_bf16(h);
}

NL_INLINE void store(nl_dtype t, void *p, size_t i, float f) {
    ((uint16_t *)p)[i] = t == NL_F16 ? to_f16(f) : to_bf16(f);
}

/* D(f): the value of f after it is stored as t and read again. */
NL_INLINE float rounded(nl_dtype t, float f) {
    return t == NL_F16 ? from_f16(to_f16(f)) : from_bf16(to_bf16(f));
}

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        /* TODO, step 6: with row.residual, x + residual is normalized, and stored in
         * row.residual_out unless that is NULL. Which is rounded, the normalized or the
         * stored sum? And if row.rounds_sum is set? */
        float squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float x = load(v.t, row.x, i);
            squares += x * x;
        }
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) {
            float xhat = load(v.t, row.x, i) * rstd;
            /* TODO, step 5: D(xhat), rounded(v.t, xhat), if v.cast_before_weight. */
            store(v.t, row.y, i, xhat * nl_gain(v.gamma, v.plus_one, i));
        }
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "TODO: a description in one line",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
