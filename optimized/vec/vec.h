/* The vector words, inline functions in which SIMD kernels are written. vf is a vector of VLEN
 * floats (in plain C: one float), on which + - * / work lane by lane; vec/ISA.h defines the words
 * below for each instruction set, and the build selects one. k is the number of real lanes: VLEN,
 * or fewer at the end of a row. No byte past the real lanes is accessed.
 *
 *     vset(f)                f in every lane
 *     vfma(a, b, c)          a * b + c, rounded once if the ISA has FMA, otherwise twice
 *     vload(t, p, i, k)      elements i .. i + k - 1 of an array of t; zero in the other lanes
 *     vstore(t, p, i, k, v)  stores k lanes in these elements, rounded to t
 *     vstream(t, p, i, v)    stores all lanes, past the caches if the ISA can; p + i is aligned
 *     vstore2(t, p, i, a, b), vstream2(t, p, i, a, b)
 *                            the same for two whole vectors; vstream2: p + i is aligned to the pair
 *     vround(t, v)           D(v): what v becomes when it is stored as t and read again
 *     vkeep(v, k)            zero in the lanes that are not real
 *     vsum(v)                the sum of the lanes, always halves added to halves
 *     vsums(v)               lane l is vsum(v[l]), of VLEN vectors
 *     vfence()               call after the last vstream, before another thread reads
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernel.h"

#include NL_VEC_HEADER /* "vec/avx2.h", from the build */

/* Vectors lie in structures and arrays, so compilers must know their size: SVE and RVV need a fixed
 * length (-msve-vector-bits). */
_Static_assert(sizeof(vf) == VLEN * sizeof(float), "vf has VLEN floats");
_Static_assert(VLEN <= 16 && (VLEN & (VLEN - 1)) == 0,
               "lines.h and vsum() need powers of two to 16");

/* The types that vload and vstore support on every instruction set; tests/words tests them. */
#define NL_VEC_DTYPES (NL_BIT(NL_F32) | NL_BIT(NL_F16) | NL_BIT(NL_BF16))

/* A function that is compiled for each instruction set has a different name in each, such as
 * nl_rows_forward_avx2. NL_API exports the function to kernels of --load. */
#define NL_OF_ISA_(name, isa) nl_##name##_##isa
#define NL_OF_ISA_OF_(name, isa) NL_OF_ISA_(name, isa)
#define NL_OF_ISA(name) NL_OF_ISA_OF_(name, NL_ISA)

/* Outlines rare paths, which keeps hot loops small; compiles large functions separately. */
#define NL_OUTLINED __attribute__((noinline))
#define NL_COLD static NL_OUTLINED __attribute__((cold, unused))

/* Prefetches the line at p into the second-level cache. */
NL_INLINE void vprefetch(const void *p) {
    __builtin_prefetch(p, 0, 2);
}

/* How many lanes of vector j lie within a row of c elements? */
NL_INLINE size_t lanes_of(size_t c, size_t j) {
    return c <= j * VLEN ? 0 : c - j * VLEN < VLEN ? c - j * VLEN : VLEN;
}

/* In place, do the unused lanes of a row's last vector overlap the next row's first elements? A
 * load of these would wait for the store, so rows (or a group's rows) are written last to first. */
NL_INLINE bool overlap_in_place(const nl_view *v) {
    return v->x == v->y && v->c % VLEN;
}

/* Elements of a block, 16 steps of four vectors. A long sum adds up each block separately. */
enum { SUM_BLOCK = 16 * 4 * VLEN };

/* The end of the block that begins at i, in a sum that ends at `end`. */
NL_INLINE size_t block_end(size_t i, size_t end) {
    return end - i < SUM_BLOCK ? end : i + SUM_BLOCK;
}

/* The gain of the k features that start at i: gamma, or 1 + w. */
NL_INLINE vf vgain(const float *gamma, bool plus_one, size_t i, size_t k) {
    vf gain = gamma ? vload(NL_F32, gamma, i, k) : vset(1);
    if (gamma && plus_one) gain += vset(1);
    return gain;
}
