/* AVX2 with FMA and F16C: 8 lanes. Ends of rows use masked loads and stores in f32, and a small
 * copy in 16-bit types. SPDX-License-Identifier: MIT */
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "vec/avx2.h needs -mavx2 -mfma -mf16c"
#endif
#include <immintrin.h>

enum { VLEN = 8, REGISTERS = 16 }; /* lanes of a vector; vector registers */
typedef __m256 vf;
#include "bf16.h"

NL_INLINE __m256i vmask(size_t k) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)k), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

NL_INLINE vf vset(float f) {
    return _mm256_set1_ps(f);
}

NL_INLINE vf vfma(vf a, vf b, vf c) {
    return _mm256_fmadd_ps(a, b, c);
}

/* The first k < 8 elements. Uses two overlapping loads: if memcpy() stored pieces, the load that
 * joins them would stall. Outlined, because inlined copies would be most of the code. */
static __attribute__((noinline, unused)) __m128i vload_some(const uint16_t *h, size_t k) {
    uint64_t low = k ? h[0] : 0, end = 0;
    if (k >= 4) {
        const size_t shift = 8 * (8 - k); /* half of the shift: shifting by 64 is undefined */
        memcpy(&low, h, 8), memcpy(&end, h + k - 4, 8);
        end = end >> shift >> shift;
    } else if (k >= 2) {
        uint32_t first;
        memcpy(&first, h, 4);
        low = k == 3 ? first | (uint64_t)h[2] << 32 : first;
    }
    return _mm_set_epi64x((int64_t)end, (int64_t)low);
}

static __attribute__((noinline, unused)) void vstore_some(uint16_t *h, size_t k, __m128i halves) {
    const uint64_t low = (uint64_t)_mm_cvtsi128_si64(halves);
    if (k >= 4) {
        const size_t shift = 8 * (8 - k);
        const uint64_t high = (uint64_t)_mm_extract_epi64(halves, 1);
        const uint64_t end = low >> 16 * (k - 4) | high << shift << shift;
        memcpy(h, &low, 8), memcpy(h + k - 4, &end, 8);
    } else if (k >= 2) {
        memcpy(h, &low, 4);
        h[k - 1] = (uint16_t)(low >> 16 * (k - 1));
    } else if (k) {
        h[0] = (uint16_t)low;
    }
}

NL_INLINE vf vload(nl_dtype t, const void *p, size_t i, size_t k) {
    if (t == NL_F32) {
        const float *f = (const float *)p + i;
        return k >= VLEN ? _mm256_loadu_ps(f) : _mm256_maskload_ps(f, vmask(k));
    }
    const uint16_t *h = (const uint16_t *)p + i;
    const __m128i half = k >= VLEN ? _mm_loadu_si128((const __m128i *)h) : vload_some(h, k);
    if (t == NL_F16) return _mm256_cvtph_ps(half);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}

NL_INLINE __m128i vhalves(nl_dtype t, vf v) {
    if (t == NL_F16) return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256i u = _mm256_srli_epi32((__m256i)vbf16(v), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(u), _mm256_extracti128_si256(u, 1));
}

NL_INLINE void vstore(nl_dtype t, void *p, size_t i, size_t k, vf v) {
    if (t == NL_F32) {
        float *f = (float *)p + i;
        if (k >= VLEN)
            _mm256_storeu_ps(f, v);
        else
            _mm256_maskstore_ps(f, vmask(k), v);
        return;
    }
    uint16_t *h = (uint16_t *)p + i;
    const __m128i half = vhalves(t, v);
    if (k >= VLEN)
        _mm_storeu_si128((__m128i *)h, half);
    else
        vstore_some(h, k, half);
}

NL_INLINE void vstream(nl_dtype t, void *p, size_t i, vf v) {
    if (t == NL_F32)
        _mm256_stream_ps((float *)p + i, v);
    else
        _mm_stream_si128((__m128i *)((uint16_t *)p + i), vhalves(t, v));
}

NL_INLINE vf vround(nl_dtype t, vf v) {
    if (t == NL_F32) return v;
    return t == NL_F16 ? _mm256_cvtph_ps(vhalves(t, v)) : vround_bf16(v);
}

NL_INLINE vf vkeep(vf v, size_t k) {
    return k >= VLEN ? v : _mm256_and_ps(v, _mm256_castsi256_ps(vmask(k)));
}

NL_INLINE float vsum(vf v) {
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}

#include "pairs.h"

/* Each step adds halves to halves, in vsum()'s order, for two vectors at once. */
NL_INLINE vf vsums(const vf v[VLEN]) {
    vf s[VLEN / 2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s[i] = _mm256_permute2f128_ps(v[2 * i], v[2 * i + 1], 0x20) +
               _mm256_permute2f128_ps(v[2 * i], v[2 * i + 1], 0x31);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        const __m256d a = _mm256_castps_pd(s[2 * i]), b = _mm256_castps_pd(s[2 * i + 1]);
        s[i] =
            _mm256_castpd_ps(_mm256_unpacklo_pd(a, b)) + _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
    }
    const vf all = _mm256_shuffle_ps(s[0], s[1], 0x88) + _mm256_shuffle_ps(s[0], s[1], 0xdd);
    return _mm256_permutevar8x32_ps(all, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

NL_INLINE void vfence(void) {
    _mm_sfence();
}
