/* AVX-512 (F, BW, DQ, VL): 16 lanes, and a mask register in every load and store, so that the end
 * of a row costs as much as its middle. SPDX-License-Identifier: MIT */
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || \
    !defined(__AVX512VL__)
#error "vec/avx512.h needs -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif
#include <immintrin.h>

enum { VLEN = 16, REGISTERS = 32 }; /* lanes of a vector; vector registers */
typedef __m512 vf;

NL_INLINE __mmask16 vmask(size_t k) {
    return k >= VLEN ? 0xffff : (__mmask16)((1u << k) - 1);
}

NL_INLINE vf vset(float f) {
    return _mm512_set1_ps(f);
}

NL_INLINE vf vfma(vf a, vf b, vf c) {
    return _mm512_fmadd_ps(a, b, c);
}

NL_INLINE vf vload(nl_dtype t, const void *p, size_t i, size_t k) {
    if (t == NL_F32) {
        const float *f = (const float *)p + i;
        return k >= VLEN ? _mm512_loadu_ps(f) : _mm512_maskz_loadu_ps(vmask(k), f);
    }
    const uint16_t *h = (const uint16_t *)p + i;
    __m256i half =
        k >= VLEN ? _mm256_loadu_si256((const __m256i *)h) : _mm256_maskz_loadu_epi16(vmask(k), h);
    if (t == NL_F16) return _mm512_cvtph_ps(half);
    const __m512i apart = _mm512_set_epi16(15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7,
                                           0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0);
    return _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(0xaaaaaaaa, apart, _mm512_castsi256_si512(half)));
}

/* The bits of v, rounded to the upper 16 of each lane; the lower 16 bits mean nothing. */
NL_INLINE __m512i vbf16(vf v) {
    const __m512i u = _mm512_castps_si512(v);
    const __mmask16 odd = _mm512_test_epi32_mask(u, _mm512_set1_epi32(0x10000));
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    __m512i r = _mm512_add_epi32(u, _mm512_set1_epi32(0x7fff));
    r = _mm512_mask_sub_epi32(r, odd, r, _mm512_set1_epi32(-1));
    return _mm512_mask_or_epi32(r, nan, u, _mm512_set1_epi32(0x400000));
}

/* Can AVX512_BF16 convert a and b? It flushes subnormals to zero, so vbf16() converts vectors with
 * subnormals. Callers use asm, because the intrinsic needs the ISA at compile time. */
NL_INLINE bool vconverts(vf a, vf b) {
    const __mmask16 in_a = _mm512_fpclass_ps_mask(a, 0x20), in_b = _mm512_fpclass_ps_mask(b, 0x20);
    return __builtin_expect(_kortestz_mask16_u8(in_a, in_b) && __builtin_cpu_supports("avx512bf16"),
                            true);
}

NL_INLINE __m256i vhalves(nl_dtype t, vf v) {
    if (t == NL_F16) return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (vconverts(v, v)) {
        __m256i halves;
        __asm__("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(v));
        return halves;
    }
    const __m512i upper = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 29,
                                           27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, vbf16(v)));
}

NL_INLINE void vstore(nl_dtype t, void *p, size_t i, size_t k, vf v) {
    if (t == NL_F32) {
        float *f = (float *)p + i;
        if (k >= VLEN)
            _mm512_storeu_ps(f, v);
        else
            _mm512_mask_storeu_ps(f, vmask(k), v);
        return;
    }
    uint16_t *h = (uint16_t *)p + i;
    if (k >= VLEN)
        _mm256_storeu_si256((__m256i *)h, vhalves(t, v));
    else
        _mm256_mask_storeu_epi16(h, vmask(k), vhalves(t, v));
}

NL_INLINE void vstream(nl_dtype t, void *p, size_t i, vf v) {
    if (t == NL_F32)
        _mm512_stream_ps((float *)p + i, v);
    else
        _mm256_stream_si256((__m256i *)((uint16_t *)p + i), vhalves(t, v));
}

/* Converts two vectors to a 16-bit type; the result fills a cache line. */
NL_INLINE __m512i vhalves2(nl_dtype t, vf a, vf b) {
    if (t == NL_BF16 && vconverts(a, b)) {
        __m512i halves;
        __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(halves) : "v"(a), "v"(b));
        return halves;
    }
    return _mm512_inserti64x4(_mm512_castsi256_si512(vhalves(t, a)), vhalves(t, b), 1);
}

/* Stores f16 vectors separately: joining them would cost more than the second store. */
NL_INLINE void vstore2(nl_dtype t, void *p, size_t i, vf a, vf b) {
    if (t == NL_BF16)
        _mm512_storeu_si512((uint16_t *)p + i, vhalves2(t, a, b));
    else
        vstore(t, p, i, VLEN, a), vstore(t, p, i + VLEN, VLEN, b);
}

NL_INLINE void vstream2(nl_dtype t, void *p, size_t i, vf a, vf b) {
    if (t == NL_F32)
        vstream(t, p, i, a), vstream(t, p, i + VLEN, b);
    else
        _mm512_stream_si512((__m512i *)((uint16_t *)p + i), vhalves2(t, a, b));
}

NL_INLINE vf vround(nl_dtype t, vf v) {
    if (t == NL_F32) return v;
    if (t == NL_F16) return _mm512_cvtph_ps(vhalves(t, v));
    return _mm512_castsi512_ps(_mm512_and_epi32(vbf16(v), _mm512_set1_epi32((int)0xffff0000)));
}

NL_INLINE vf vkeep(vf v, size_t k) {
    return k >= VLEN ? v : _mm512_maskz_mov_ps(vmask(k), v);
}

NL_INLINE float vsum(vf v) {
    __m256 a = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}

/* Each step adds halves to halves, in vsum()'s order, for two vectors at once. */
NL_INLINE vf vsums(const vf v[VLEN]) {
    vf s[VLEN / 2];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        s[i] = _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0x44) +
               _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0xee);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s[i] = _mm512_shuffle_f32x4(s[2 * i], s[2 * i + 1], 0x88) +
               _mm512_shuffle_f32x4(s[2 * i], s[2 * i + 1], 0xdd);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        const __m512d a = _mm512_castps_pd(s[2 * i]), b = _mm512_castps_pd(s[2 * i + 1]);
        s[i] =
            _mm512_castpd_ps(_mm512_unpacklo_pd(a, b)) + _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
    const vf all = _mm512_shuffle_ps(s[0], s[1], 0x88) + _mm512_shuffle_ps(s[0], s[1], 0xdd);
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11,
                                                   15),
                                 all);
}

NL_INLINE void vfence(void) {
    _mm_sfence();
}
