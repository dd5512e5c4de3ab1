/* SSE2, which every x86-64 has: 4 lanes, no fused multiply-add, and f16 is converted one element at
 * a time in integer arithmetic: right, but slow. SPDX-License-Identifier: MIT */
#if !defined(__SSE2__)
#error "vec/sse2.h needs -msse2"
#endif
#include <emmintrin.h>

enum { VLEN = 4, REGISTERS = 16 }; /* lanes of a vector; vector registers */
typedef __m128 vf;
#include "bf16.h"

NL_INLINE vf vset(float f) {
    return _mm_set1_ps(f);
}

NL_INLINE vf vfma(vf a, vf b, vf c) {
    return a * b + c;
}

/* Loads f16 and partial vectors. Outlined, because the function is slow in any case, and inlined
 * copies would be most of the code. */
static __attribute__((noinline, unused)) vf vload_some(nl_dtype t, const void *p, size_t i,
                                                       size_t k) {
    float lanes[VLEN] = {0};
    for (size_t l = 0; l < k; l++) lanes[l] = nl_load(t, p, i + l);
    return _mm_loadu_ps(lanes);
}

static __attribute__((noinline, unused)) __m128i vhalves_f16(vf v) {
    float lanes[VLEN];
    uint16_t half[8] = {0};
    _mm_storeu_ps(lanes, v);
    for (int l = 0; l < VLEN; l++) half[l] = nl_to_f16(lanes[l]);
    return _mm_loadu_si128((const __m128i *)half);
}

NL_INLINE vf vload(nl_dtype t, const void *p, size_t i, size_t k) {
    if (t == NL_F32 && k >= VLEN) return _mm_loadu_ps((const float *)p + i);
    if (t == NL_BF16 && k >= VLEN) {
        __m128i half = _mm_loadl_epi64((const __m128i *)((const uint16_t *)p + i));
        return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), half));
    }
    return vload_some(t, p, i, k >= VLEN ? VLEN : k);
}

NL_INLINE __m128i vhalves(nl_dtype t, vf v) {
    if (t == NL_BF16) { /* packs as signed; the arithmetic shift keeps values in range */
        __m128i u = _mm_srai_epi32((__m128i)vbf16(v), 16);
        return _mm_packs_epi32(u, u);
    }
    return vhalves_f16(v);
}

NL_INLINE void vstore(nl_dtype t, void *p, size_t i, size_t k, vf v) {
    if (t == NL_F32 && k >= VLEN) {
        _mm_storeu_ps((float *)p + i, v);
    } else if (t == NL_F32) {
        memcpy((float *)p + i, &v, 4 * k);
    } else {
        __m128i half = vhalves(t, v);
        if (k >= VLEN)
            _mm_storel_epi64((__m128i *)((uint16_t *)p + i), half);
        else
            memcpy((uint16_t *)p + i, &half, 2 * k);
    }
}

/* Uses ordinary stores for 16-bit types, because SSE2 has no streaming store of 8 bytes. */
NL_INLINE void vstream(nl_dtype t, void *p, size_t i, vf v) {
    if (t == NL_F32)
        _mm_stream_ps((float *)p + i, v);
    else
        vstore(t, p, i, VLEN, v);
}

NL_INLINE vf vround(nl_dtype t, vf v) {
    if (t == NL_F32) return v;
    if (t == NL_BF16) return vround_bf16(v);
    uint16_t half[8];
    _mm_storeu_si128((__m128i *)half, vhalves(t, v));
    return vload(t, half, 0, VLEN);
}

NL_INLINE vf vkeep(vf v, size_t k) {
    __m128i real = _mm_cmpgt_epi32(_mm_set1_epi32((int)k), _mm_setr_epi32(0, 1, 2, 3));
    return k >= VLEN ? v : _mm_and_ps(v, _mm_castsi128_ps(real));
}

NL_INLINE float vsum(vf v) {
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_shuffle_ps(v, v, 1)));
}

#include "pairs.h"
#include "sums.h"

NL_INLINE void vfence(void) {
    _mm_sfence();
}
