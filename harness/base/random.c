/* Philox4x32-10 and Acklam's inverse of the normal distribution (P. J. Acklam, 2003, relative error
 * below 1.15e-9). Of libm it uses only sqrt and frexp, which are equal everywhere.
 * SPDX-License-Identifier: MIT */
#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static uint64_t seed; /* of the current case: data are made for one case at a time */

enum { STREAMS = 64, KEPT_MOST = 1 << 21 };
static struct {
    double *normal;
    uint64_t count;
} kept[STREAMS];

void random_seed(uint64_t number) {
    for (int i = 0; i < STREAMS && number != seed; i++) kept[i].count = 0;
    seed = number;
}

void random_words(uint64_t stream, uint64_t index, uint32_t out[4]) {
    uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)seed,
                     (uint32_t)(seed >> 32)};
    uint32_t k0 = (uint32_t)stream, k1 = (uint32_t)(stream >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t next0 = (uint32_t)(b >> 32) ^ c[1] ^ k0, next2 = (uint32_t)(a >> 32) ^ c[3] ^ k1;
        c[0] = next0, c[1] = (uint32_t)b, c[2] = next2, c[3] = (uint32_t)a;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++) out[i] = c[i];
}

double random_uniform(uint64_t stream, uint64_t index) {
    uint32_t w[4];
    random_words(stream, index, w);
    return (w[0] + 0.5) * 0x1p-32;
}

/* ln v from its exponent and the artanh series, because libm's log differs between machines. */
static double logarithm(double v) {
    int e;
    double f = frexp(v, &e), z, sum = 0;
    if (f < 0.70710678118654752) f *= 2, e--;
    z = (f - 1) / (f + 1);
    for (int n = 23; n > 0; n -= 2) sum = sum * z * z + 1.0 / n;
    return 2 * z * sum + e * 0.69314718055994531;
}

static double normal(uint64_t stream, uint64_t index) {
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                               -2.759285104469687e+02, 1.383577518672690e+02,
                               -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                               -1.556989798598866e+02, 6.680131188771972e+01,
                               -1.328068155288572e+01, 1};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                               -2.400758277161838e+00, -2.549732539343734e+00,
                               4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {0,
                               7.784695709041462e-03,
                               3.224671290700398e-01,
                               2.445134137142996e+00,
                               3.754408661907416e+00,
                               1};
    double p = random_uniform(stream, index), tail = p < 0.5 ? p : 1 - p, above = 0, below = 0;
    if (tail < 0.02425) {
        double q = sqrt(-2 * logarithm(tail));
        for (int i = 0; i < 6; i++) above = above * q + c[i], below = below * q + d[i];
        return p < 0.5 ? above / below : -above / below;
    }
    double q = p - 0.5, r = q * q;
    for (int i = 0; i < 6; i++) above = above * r + a[i], below = below * r + b[i];
    return above * q / below;
}

double random_normal(uint64_t stream, uint64_t index) {
    const bool has = stream < STREAMS && index < kept[stream].count;
    return has ? kept[stream].normal[index] : normal(stream, index);
}

void random_keep(uint64_t stream, uint64_t count) {
    if (count > KEPT_MOST) count = KEPT_MOST;
    if (stream >= STREAMS || count <= kept[stream].count) return;
    double *more = realloc(kept[stream].normal, count * sizeof *more);
    if (!more) return;
    for (uint64_t i = kept[stream].count; i < count; i++) more[i] = normal(stream, i);
    kept[stream].normal = more, kept[stream].count = count;
}
