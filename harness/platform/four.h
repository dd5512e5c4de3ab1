/* Vectors of four floats, which every x86-64 and aarch64 processor has, for claims about the
 * instruction that estimates 1 / sqrt. DIGITS: how many binary digits of an estimate are correct.
 * On other processors DIGITS is 0, and the other macros are not defined. SPDX-License-Identifier:
 * MIT */
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
typedef __m128 four;
#define LOAD(p) _mm_load_ps(p)
#define STORE(p, v) _mm_store_ps(p, v)
#define ROOT(v) _mm_sqrt_ps(v)
#define GUESS(v) _mm_rsqrt_ps(v)
#define ALL(f) _mm_set1_ps(f)
enum { DIGITS = 11 };
#elif defined(__aarch64__)
#include <arm_neon.h>
typedef float32x4_t four;
#define LOAD(p) vld1q_f32(p)
#define STORE(p, v) vst1q_f32(p, v)
#define ROOT(v) vsqrtq_f32(v)
#define GUESS(v) vrsqrteq_f32(v)
#define ALL(f) vdupq_n_f32(f)
enum { DIGITS = 7 };
#else
enum { DIGITS = 0 };
#endif
