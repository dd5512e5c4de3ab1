/* exp and silu in vector words. exp(x) = 2^n * exp(r) with n the integer nearest to x / ln 2 and
 * r = x - n * ln 2, so that a polynomial suffices for exp(r). exp's error is at most 2^-150 plus
 * 2^-23 of the result (of 2^-126 if the result is smaller). tests/words/words.c compares exp with
 * the C library's. SPDX-License-Identifier: MIT */
#pragma once

#include "gate.h"
#include "vec/vec.h"

typedef int32_t vi __attribute__((vector_size(sizeof(vf))));

NL_INLINE vi vbits(vf v) {
    vi bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

NL_INLINE vf vfrom_bits(vi bits) {
    vf v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Takes a's lane if the mask's lane is all ones, and b's lane if it is 0. */
NL_INLINE vf vselect(vi mask, vf a, vf b) {
    return vfrom_bits((vbits(a) & mask) | (vbits(b) & ~mask));
}

/* 2^n for n from -126 to 127. */
NL_INLINE vf vpower(vi n) {
    return vfrom_bits((n + 127) << 23);
}

/* exp(-|z|); 0 if |z| is over 110 or z is a NaN. */
NL_INLINE vf vexp_minus(vf z) {
    const int32_t most = 0x42dc0000, sign = INT32_MIN; /* most: 110.0f */
    const vi size = vbits(z) & ~sign, far = size > most;
    const vf x = vfrom_bits(((size & ~far) | (most & far)) | sign);

    const vf shift = vset(0x1.8p23f); /* last bit worth 1, so x / ln 2 + shift is an integer */
    const vf shifted = vfma(x, vset(0x1.715476p0f), shift), n = shifted - shift;
    /* ln 2 in two parts. n times the first part (9 bits) is exact, as is x minus that product */
    const vf r = vfma(n, vset(0x1.bd0106p-13f), vfma(n, vset(-0x1.63p-1f), x));

    vf p = vset(0x1.6a1a72p-10f); /* fitted; error 0.08 units of exp(r) */
    p = vfma(p, r, vset(0x1.123fc6p-7f));
    p = vfma(p, r, vset(0x1.555916p-5f));
    p = vfma(p, r, vset(0x1.55548ap-3f));
    p = vfma(p, r, vset(0x1.fffffcp-2f));
    p = vfma(p * r, r, r) + vset(1);

    const vi whole = vbits(shifted) - vbits(shift), half = whole >> 1;
    return p * vpower(half) * vpower(whole - half); /* 2^n alone may underflow */
}

/* sigmoid(z) and sigmoid(-z), which is 1 - sigmoid(z) without cancellation. */
typedef struct sigmoids {
    vf of, of_minus;
} sigmoids;

NL_INLINE sigmoids vsigmoids(vf z) {
    const vf e = vexp_minus(z), large = vset(1) / (vset(1) + e), small = e * large;
    const vi negative = vbits(z) >> 31;
    return (sigmoids){vselect(negative, small, large), vselect(negative, large, small)};
}

NL_INLINE vf vsilu(vf z) {
    return z * vsigmoids(z).of;
}

/* silu's derivative. */
NL_INLINE vf vsilu_slope(vf z, sigmoids s) {
    return s.of * vfma(z, s.of_minus, vset(1));
}
