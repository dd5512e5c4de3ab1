/* Converts one stored element to float and back: binary16 and bfloat16 in integer arithmetic,
 * rounded to nearest even, with subnormals, infinities and NaN. These conversions are slow and
 * portable; the fast conversions are tested against them. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

#include <stdint.h>
#include <string.h>

#define NL_INLINE static inline __attribute__((always_inline))

NL_INLINE uint32_t nl_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

NL_INLINE float nl_from_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

NL_INLINE float nl_from_bf16(uint16_t h) {
    return nl_from_bits((uint32_t)h << 16);
}

NL_INLINE uint16_t nl_to_bf16(float f) {
    uint32_t u = nl_bits(f);
    if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)(u >> 16 | 0x40); /* NaN, made quiet */
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* A subnormal half is its mantissa times 2^-24, which is exact in float. */
NL_INLINE float nl_from_f16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
    if (magnitude >= 0x7c00) return nl_from_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude < 0x0400) {
        float f = (float)magnitude * 0x1p-24f;
        return nl_from_bits(sign | nl_bits(f));
    }
    return nl_from_bits(sign | ((magnitude << 13) + (112u << 23)));
}

NL_INLINE uint16_t nl_to_f16(float f) {
    uint32_t u = nl_bits(f), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520 and up: infinity */
    if (magnitude < 0x38800000) { /* below 2^-14: adding 0.5 makes the processor round at 2^-24 */
        return (uint16_t)(sign | (nl_bits(nl_from_bits(magnitude) + 0.5f) - 0x3f000000));
    }
    return (uint16_t)(sign | ((magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

/* These switches have no default, so that compilers report each switch that lacks a new type. */
NL_INLINE size_t nl_dtype_size(nl_dtype t) {
    switch (t) {
    case NL_F32: return 4;
    case NL_F16:
    case NL_BF16: return 2;
    }
    __builtin_unreachable();
}

/* Calls f(t, context) with the type as a constant: f is inlined once for each type, and its loops
 * contain no branches on the type. */
typedef void nl_typed(nl_dtype t, const void *context);

NL_INLINE void nl_with_dtype(nl_dtype t, nl_typed *f, const void *context) {
    switch (t) {
    case NL_F32: f(NL_F32, context); break;
    case NL_F16: f(NL_F16, context); break;
    case NL_BF16: f(NL_BF16, context); break;
    }
}

NL_INLINE float nl_load(nl_dtype t, const void *p, size_t i) {
    switch (t) {
    case NL_F32: return ((const float *)p)[i];
    case NL_F16: return nl_from_f16(((const uint16_t *)p)[i]);
    case NL_BF16: return nl_from_bf16(((const uint16_t *)p)[i]);
    }
    __builtin_unreachable();
}

NL_INLINE void nl_store(nl_dtype t, void *p, size_t i, float f) {
    switch (t) {
    case NL_F32: ((float *)p)[i] = f; break;
    case NL_F16: ((uint16_t *)p)[i] = nl_to_f16(f); break;
    case NL_BF16: ((uint16_t *)p)[i] = nl_to_bf16(f); break;
    }
}

/* D(f): what f becomes when it is stored as t and read again. */
NL_INLINE float nl_round(nl_dtype t, float f) {
    switch (t) {
    case NL_F32: return f;
    case NL_F16: return nl_from_f16(nl_to_f16(f));
    case NL_BF16: return nl_from_bf16(nl_to_bf16(f));
    }
    __builtin_unreachable();
}
