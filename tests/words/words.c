/* Compares every word of optimized/vec/vec.h with its scalar meaning (core/dtype.h, tested in
 * tests/library/dtype.c). Compiled like the kernels, once for every instruction set. memory.c tests
 * the words that access memory. SPDX-License-Identifier: MIT */
#include "lanes.h"
#include "gated/silu.h"

#include <float.h>

/* Tests vset, and + - * / of any two special numbers. */
static bool arithmetic_is_right(void) {
    for (size_t i = 0; i < SPECIAL; i++)
        for (size_t n = 0; n < SPECIAL; n += VLEN) {
            const float x = value(NL_F32, i);
            lanes all, y, sum, difference, product, quotient;
            for (size_t l = 0; l < VLEN; l++) {
                all.at[l] = x, y.at[l] = value(NL_F32, n + l);
                sum.at[l] = x + y.at[l], difference.at[l] = x - y.at[l];
                product.at[l] = x * y.at[l], quotient.at[l] = x / y.at[l];
            }
            const vf a = vset(x), b = vector(y);
            begin("vset + - * /", NL_F32, VLEN, "");
            if (!right(a, all) || !right(a + b, sum) || !right(a - b, difference) ||
                !right(a * b, product) || !right(a / b, quotient))
                return false;
        }
    return true;
}

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
enum { PROCESSOR_FUSES = true };
#else
enum { PROCESSOR_FUSES = false };
#endif

/* A double holds these products and sums of floats exactly, so converting it rounds once. */
static bool vfma_is_right(void) {
    static const float few[] = {0,       -0.0f,     1,         -1,       INFINITY,
                                FLT_MAX, 0x1p-126f, 0x1p-149f, -FLT_MAX, NAN};
    enum { FEW = sizeof few / sizeof *few, TRIPLES = FEW * FEW * FEW };
    const bool once = PROCESSOR_FUSES && VLEN > 1; /* plain C rounds twice */
    for (size_t n = 0; n < 10 * TRIPLES; n += VLEN) {
        lanes a, b, c, want;
        for (size_t l = 0; l < VLEN; l++) {
            const size_t m = n + l;
            float x = moderate(3 * m), y = moderate(3 * m + 1), z = moderate(3 * m + 2);
            if (m < TRIPLES) x = few[m % FEW], y = few[m / FEW % FEW], z = few[m / FEW / FEW];
            const float product = x * y;
            if (m % 3 == 0 && m >= TRIPLES) z = -product; /* leaves the rounding error */
            a.at[l] = x, b.at[l] = y, c.at[l] = z;
            want.at[l] = once ? (float)((double)x * (double)y + (double)z) : product + z;
        }
        begin(once ? "vfma, rounded once" : "vfma, rounded twice", NL_F32, VLEN, "");
        if (!right(vfma(vector(a), vector(b), vector(c)), want)) return false;
    }
    return true;
}

/* vsum adds the upper half of the lanes to the lower half, until one lane is left. */
static bool vsum_is_right(void) {
    begin("vsum", NL_F32, VLEN, "");
    for (size_t n = 0; n < 20000; n++) {
        lanes v, s;
        for (size_t l = 0; l < VLEN; l++)
            v.at[l] = n % 2 ? moderate(n * VLEN + l) : value(NL_F32, n / 2 + l);
        s = v;
        for (size_t half = VLEN / 2; half > 0; half /= 2)
            for (size_t l = 0; l < half; l++) s.at[l] += s.at[l + half];
        const float got = vsum(vector(v));
        if (!same(got, s.at[0])) return fail(0, got, s.at[0]);
    }
    return true;
}

static bool vsums_is_right(void) {
    begin("vsums", NL_F32, VLEN, "");
    for (size_t n = 0; n < 2000; n++) {
        vf v[VLEN];
        lanes want;
        for (size_t k = 0; k < VLEN; k++) {
            lanes one;
            for (size_t l = 0; l < VLEN; l++) one.at[l] = moderate((n * VLEN + k) * VLEN + l);
            v[k] = vector(one), want.at[k] = vsum(v[k]);
        }
        if (!right(vsums(v), want)) return false;
    }
    return true;
}

/* The distance in units of the scale, minus `off`, which is the error that exp may have if its
 * result is subnormal. */
static double units(float got, double want, double scale, double off) {
    return fmax(0, fabs(got - want) - off) / (0x1p-24 * fmax(scale, 0x1p-126));
}

/* Are exp(-|z|), silu and its derivative of VLEN numbers within silu.h's and bound.c's bounds? */
static bool silu_is_right(lanes z) {
    const sigmoids s = vsigmoids(vector(z));
    const vf v[] = {vexp_minus(vector(z)), vsilu(vector(z)), vsilu_slope(vector(z), s)};
    static const double most[] = {2, 7, 12};
    lanes got[3];
    memcpy(got, v, sizeof got);
    for (size_t l = 0; l < VLEN; l++) {
        const double x = (double)z.at[l], e = exp(-fabs(x)), of = (x < 0 ? e : 1) / (1 + e),
                     of_minus = (x < 0 ? 1 : e) / (1 + e);
        const double want[] = {e, x * of, of * (1 + x * of_minus)},
                     scale[] = {e, fabs(x * of), of * (1 + fabs(x) * of_minus)};
        for (int i = isfinite(x) ? 0 : 1; i < 3; i++) {
            const bool both = isnan(want[i]) || isinf(want[i]);
            const double off = (i ? 128 : 0.5) * 0x1p-149;
            if (both ? same(got[i].at[l], (float)want[i])
                     : units(got[i].at[l], want[i], scale[i], off) <= most[i])
                continue;
            snprintf(words_why, sizeof words_why, "%s of %a is %a, not %a",
                     i == 0   ? "exp(-|z|)"
                     : i == 1 ? "silu"
                              : "silu's derivative",
                     (double)z.at[l], (double)got[i].at[l], want[i]);
            return false;
        }
    }
    return true;
}

/* Tests every f16, special numbers, and every 61st float of either sign, up to where exp is 0. */
static bool vsilu_is_right(void) {
    const uint32_t end = nl_bits(130.0f), step = 61;
    begin("vsilu", NL_F32, VLEN, "");
    for (uint32_t n = 0; n < PATTERNS + end / step + SPECIAL; n += VLEN) {
        lanes z;
        for (uint32_t l = 0; l < VLEN; l++) {
            const uint32_t i = n + l, dense = i - PATTERNS;
            z.at[l] = i < PATTERNS ? nl_from_f16((uint16_t)i)
                      : dense < end / step
                          ? nl_from_bits(dense * step | (dense & 1) << 31)
                          : nl_from_bits(special[(dense - end / step) % SPECIAL / 2] | i << 31);
        }
        if (!silu_is_right(z)) return false;
    }
    return true;
}

bool WORDS_JOIN(words_, NL_ISA)(void) {
    return WORDS_JOIN(words_in_memory_, NL_ISA)() && arithmetic_is_right() && vfma_is_right() &&
           vsum_is_right() && vsums_is_right() && vsilu_is_right();
}
