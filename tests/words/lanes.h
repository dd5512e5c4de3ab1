/* A vector's lanes as an array, the numbers for the tests, and the comparison.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "words.h"
#include "vec/vec.h"

#include <stdio.h>

/* Numbers where rounding, overflow, underflow or NaN may be wrong; value() adds the negatives. */
static const uint32_t special[] = {
    0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001,             /* float's smallest */
    0x32ffffff, 0x33000000, 0x33000001, 0x33bfffff, 0x33c00000, 0x33c00001, /* f16's smallest */
    0x387fdfff, 0x387fe000, 0x387fe001, 0x387fefff, 0x387ff000, 0x38800000, /* f16's normal ones */
    0x477fdfff, 0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000, /* f16's largest */
    0x00007fff, 0x00008000, 0x00008001, 0x00017fff, 0x00018000, 0x00018001, /* bf16's smallest */
    0x7f7f0000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000, /* bf16's largest, Inf */
    0x7f800001, 0x7f801fff, 0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffffff, /* all kinds of NaN */
    0x3f800000, 0x3f7fffff, 0x3f800001, 0x3f808000, 0x3f818000, 0x3f801000, 0x3f803000,
};
enum { SPECIAL = 2 * sizeof special / sizeof *special, PATTERNS = 0x10000 };

/* Random bits that depend on n alone: George Marsaglia's xorshift. */
static inline uint32_t bits(size_t n) {
    uint32_t u = (uint32_t)n + 0x9e3779b9;
    for (int i = 0; i < 8; i++) u ^= u << 13, u ^= u >> 17, u ^= u << 5;
    return u;
}

/* Number n to store as t: first the special numbers, then the midpoints between neighbours of a
 * 16-bit type with the floats next to each midpoint; for f32 random bits. */
enum { VALUES = SPECIAL + 3 * PATTERNS };
static inline float value(nl_dtype t, size_t n) {
    if (n < SPECIAL) return nl_from_bits(special[n / 2] | (uint32_t)(n % 2) << 31);
    if (t == NL_F32) return nl_from_bits(bits(n));
    uint16_t low = (uint16_t)((n - SPECIAL) / 3);
    uint32_t middle = (uint32_t)low << 16 | 0x8000;
    if (t == NL_F16) middle = nl_bits((nl_from_f16(low) + nl_from_f16(low + 1)) / 2);
    return nl_from_bits(middle + (uint32_t)(n % 3) - 1);
}

/* A number of size between 2^-15 and 2, positive or negative. */
static inline float moderate(size_t n) {
    uint32_t u = bits(n);
    return nl_from_bits((u & 0x807fffff) + 0x3f800000 - (u >> 27 & 15) * 0x00800000);
}

typedef struct lanes {
    float at[VLEN];
} lanes;

static inline vf vector(lanes l) {
    vf v;
    memcpy(&v, &l, sizeof v);
    return v;
}

static inline void begin(const char *word, nl_dtype t, size_t k, const char *where) {
    snprintf(words_call, sizeof words_call - 1, "%s, %s, k = %zu of %d%s", word, nl_dtype_name(t),
             k, VLEN, where);
}

static inline bool fail(size_t lane, float got, float want) {
    snprintf(words_why, sizeof words_why, "%s: lane %zu is %a (%08x), not %a (%08x)", words_call,
             lane, (double)got, nl_bits(got), (double)want, nl_bits(want));
    return false;
}

/* All NaNs are equal. */
static inline bool same(float got, float want) {
    return nl_bits(got) == nl_bits(want) || (got != got && want != want);
}

static inline bool right(vf v, lanes want) {
    lanes got;
    memcpy(&got, &v, sizeof got);
    for (size_t l = 0; l < VLEN; l++)
        if (!same(got.at[l], want.at[l])) return fail(l, got.at[l], want.at[l]);
    return true;
}
