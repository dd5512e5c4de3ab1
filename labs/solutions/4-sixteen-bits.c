/* idea   16 bits only where numbers are stored. Reading a number converts it to float; sums,
 *        rstd, xhat and the sum with the residual stay floats; y is rounded once, and xhat only if
 *        the problem casts before the weight.
 * gain   Half the bytes of f32, with the error of one rounding.
 * fails  Slow: conversions in integer arithmetic, one element at a time.
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
NL_INLINE float from_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 31) return nl_from_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) { /* zeros and subnormals: multiples of 2^-24 */
        float size = (float)fraction * 0x1p-24f;
        return sign ? -size : size;
    }
    return nl_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

NL_INLINE uint16_t to_f16(float f) {
    uint32_t sign = nl_bits(f) >> 16 & 0x8000;
    float size = fabsf(f);
    if (f != f) return (uint16_t)(sign | 0x7e00);
    if (size >= 65520) return (uint16_t)(sign | 0x7c00); /* half a step above the largest */
    if (size < 0x1p-14f) return (uint16_t)(sign | (uint32_t)rintf(size * 0x1p24f));
    uint32_t u = nl_bits(size);
    return (uint16_t)(sign | (u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13);
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

/* x, or its sum with the residual, in float: rounded only if the caller requires it. */
NL_INLINE float value(nl_view row, size_t i) {
    float x = load(row.t, row.x, i);
    x = row.residual ? x + load(row.t, row.residual, i) : x;
    return row.rounds_sum ? rounded(row.t, x) : x;
}

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float x = value(row, i);
            squares += x * x;
        }
        float rstd = 1 / sqrtf(squares / v.c + v.eps);

        for (size_t i = 0; i < v.c; i++) {
            float x = value(row, i);
            float xhat = v.cast_before_weight ? rounded(v.t, x * rstd) : x * rstd;
            if (row.residual_out) store(v.t, row.residual_out, i, x);
            store(v.t, row.y, i, xhat * nl_gain(v.gamma, v.plus_one, i));
        }
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "float arithmetic, rounded where it is stored",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F16) | NL_BIT(NL_BF16), .method = NL_TWO_PASS, .lanes = 1,
        .forward = forward);
