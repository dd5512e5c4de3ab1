/* NEON, which every aarch64 has: 4 lanes, fused multiply-add, conversion of f16. Compilers have no
 * streaming store for NEON: vstream is an ordinary store.
 * SPDX-License-Identifier: MIT */
#if !defined(__ARM_NEON) || !defined(__aarch64__)
#error "vec/neon.h needs an aarch64 compiler"
#endif
#include <arm_neon.h>

enum { VLEN = 4, REGISTERS = 32 }; /* lanes of a vector; vector registers */
typedef float32x4_t vf;
#include "bf16.h"

NL_INLINE vf vset(float f) {
    return vdupq_n_f32(f);
}

NL_INLINE vf vfma(vf a, vf b, vf c) {
    return vfmaq_f32(c, a, b);
}

NL_INLINE vf vload(nl_dtype t, const void *p, size_t i, size_t k) {
    if (t == NL_F32) {
        if (k >= VLEN) return vld1q_f32((const float *)p + i);
        float lanes[VLEN] = {0};
        memcpy(lanes, (const float *)p + i, 4 * k);
        return vld1q_f32(lanes);
    }
    const uint16_t *h = (const uint16_t *)p + i;
    uint16_t lanes[VLEN] = {0};
    if (k < VLEN) h = memcpy(lanes, h, 2 * k);
    uint16x4_t half = vld1_u16(h);
    if (t == NL_F16) return vcvt_f32_f16(vreinterpret_f16_u16(half));
    return vreinterpretq_f32_u32(vshll_n_u16(half, 16));
}

NL_INLINE uint16x4_t vhalves(nl_dtype t, vf v) {
    if (t == NL_F16) return vreinterpret_u16_f16(vcvt_f16_f32(v));
    return vshrn_n_u32((uint32x4_t)vbf16(v), 16);
}

NL_INLINE void vstore(nl_dtype t, void *p, size_t i, size_t k, vf v) {
    if (t == NL_F32) {
        if (k >= VLEN)
            vst1q_f32((float *)p + i, v);
        else
            memcpy((float *)p + i, &v, 4 * k);
        return;
    }
    const uint16x4_t half = vhalves(t, v);
    if (k >= VLEN)
        vst1_u16((uint16_t *)p + i, half);
    else
        memcpy((uint16_t *)p + i, &half, 2 * k);
}

NL_INLINE void vstream(nl_dtype t, void *p, size_t i, vf v) {
    vstore(t, p, i, VLEN, v);
}

NL_INLINE vf vround(nl_dtype t, vf v) {
    if (t == NL_F32) return v;
    return t == NL_F16 ? vcvt_f32_f16(vreinterpret_f16_u16(vhalves(t, v))) : vround_bf16(v);
}

NL_INLINE vf vkeep(vf v, size_t k) {
    const uint32_t lane[VLEN] = {0, 1, 2, 3};
    uint32x4_t real = vcltq_u32(vld1q_u32(lane), vdupq_n_u32((uint32_t)k));
    return k >= VLEN ? v : vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v), real));
}

NL_INLINE float vsum(vf v) {
    float32x2_t a = vadd_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(vpadd_f32(a, a), 0);
}

#include "pairs.h"
#include "sums.h"

NL_INLINE void vfence(void) {
}
