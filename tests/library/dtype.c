/* Tests the conversions of core/dtype.h on every bit pattern of the types smaller than f32, and
 * ref_round, an independent conversion. Expected values come from ldexp on a pattern's fields.
 * SPDX-License-Identifier: MIT */
#include "layer.h"
#include "reference.h"
#include "support.h"

#include <criterion/parameterized.h>
#include <float.h>

static const struct format {
    nl_dtype t;
    int bits, bias; /* stored bits of the significand; bias of the exponent */
    unsigned infinity;
} formats[] = {{NL_F16, 10, 15, 0x7c00}, {NL_BF16, 7, 127, 0x7f80}};
enum { FORMATS = sizeof formats / sizeof *formats };
_Static_assert(FORMATS == NL_DTYPES - 1, "each type but f32");

static unsigned sign_bit(nl_dtype t) {
    return 1u << (8 * nl_dtype_bytes(t) - 1);
}

/* The value of a finite pattern. The pattern of infinity gives the next larger number, so that
 * overflow is a case of rounding to nearest even. */
static double from_fields(const struct format *f, unsigned pattern) {
    unsigned exponent = (pattern & (sign_bit(f->t) - 1)) >> f->bits,
             fraction = pattern & ((1u << f->bits) - 1);
    int scale = (exponent ? (int)exponent : 1) - f->bias - f->bits;
    double v = ldexp(exponent ? fraction + (1u << f->bits) : fraction, scale);
    return pattern & sign_bit(f->t) ? -v : v;
}

static bool same(long double a, long double b) {
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static unsigned stored(nl_dtype t, float v) {
    uint32_t room = 0; /* holds a float, because the compiler cannot exclude NL_F32 */
    nl_store(t, &room, 0, v);
    return room;
}

static float loaded(nl_dtype t, unsigned pattern) {
    uint32_t room = pattern;
    return nl_load(t, &room, 0);
}

/* nl_store, nl_round and ref_round must all round v to this pattern. */
static void check_rounding(nl_dtype t, float v, unsigned pattern) {
    double want = (double)loaded(t, pattern), rounded = (double)nl_round(t, v);
    unsigned got = stored(t, v);
    long double truth = ref_round(t, v);
    if (got != pattern || !same(rounded, want) || !same(truth, want))
        cr_assert_fail("%s of %a: nl_store %04x, nl_round %a, ref_round %La; expected %04x, %a",
                       nl_dtype_name(t), (double)v, got, rounded, truth, pattern, want);
}

static struct criterion_test_params each_format(void) {
    static size_t index[FORMATS];
    for (size_t i = 0; i < FORMATS; i++) index[i] = i;
    return cr_make_param_array(size_t, index, FORMATS);
}

ParameterizedTestParameters(dtype, every_pattern) {
    return each_format();
}

ParameterizedTest(size_t *index, dtype, every_pattern) {
    const struct format *f = &formats[*index];
    const unsigned sign = sign_bit(f->t);
    for (unsigned i = 0; i < 2 * sign; i++) {
        unsigned magnitude = i & (sign - 1), quiet = 1u << (f->bits - 1), back;
        float v = loaded(f->t, i);
        bool right = !signbit(v) == !(i & sign);
        back = stored(f->t, v);
        if (magnitude > f->infinity)
            right = right && isnan(v) && back == (i | quiet);
        else if (magnitude == f->infinity)
            right = right && isinf(v) && back == i;
        else
            right = right && (double)v == from_fields(f, i) && back == i;
        if (!right || !same(ref_round(f->t, v), v))
            cr_assert_fail("%s %04x loads as %a, which is stored as %04x and ref_round makes %La",
                           nl_dtype_name(f->t), i, (double)v, back, ref_round(f->t, v));
    }
}

ParameterizedTestParameters(dtype, nearest_even) {
    return each_format();
}

/* Tests values between two neighbours: the midpoint, and numbers next to it and to each neighbour.
 * ref_round also gets numbers that float cannot hold, and must not round them to float first. */
ParameterizedTest(size_t *index, dtype, nearest_even) {
    const struct format *f = &formats[*index];
    for (unsigned low = 0; low < f->infinity; low++) {
        unsigned high = low + 1, even = low & 1 ? high : low;
        double mid = (from_fields(f, low) + from_fields(f, high)) / 2;
        const struct point {
            float v;
            unsigned pattern;
        } points[] = {{nextafterf((float)from_fields(f, low), INFINITY), low},
                      {nextafterf((float)mid, 0), low},
                      {(float)mid, even},
                      {nextafterf((float)mid, INFINITY), high},
                      {nextafterf((float)from_fields(f, high), 0), high}};
        for (const struct point *p = points; p < points + 5; p++) {
            check_rounding(f->t, p->v, p->pattern);
            check_rounding(f->t, -p->v, p->pattern | sign_bit(f->t));
        }
        for (int side = -1; side <= 1; side += 2) {
            const double want = loaded(f->t, side < 0 ? low : high);
            for (int far = 0; far < 2; far++) {
                const long double off = far ? 0x1p-40L : 2 * LDBL_EPSILON,
                                  near = mid + side * mid * off;
                if (!same(ref_round(f->t, near), want) || !same(ref_round(f->t, -near), -want))
                    cr_assert_fail("ref_round to %s of %La: %La, expected %a", nl_dtype_name(f->t),
                                   near, ref_round(f->t, near), want);
            }
        }
    }
}

/* Numbers far beyond the largest pattern, and the limits of the types. */
Test(dtype, landmarks) {
    static const struct {
        nl_dtype t;
        float v;
        unsigned pattern;
    } marks[] = {
        {NL_F16, 0x1.8p16f, 0x7c00},  {NL_F16, 0x1.fffffep127f, 0x7c00},
        {NL_F16, INFINITY, 0x7c00},   {NL_F16, 0x1p-149f, 0x0000},
        {NL_F16, 1, 0x3c00},          {NL_BF16, INFINITY, 0x7f80},
        {NL_BF16, 0x1p-149f, 0x0000}, {NL_BF16, 1, 0x3f80},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        check_rounding(marks[i].t, marks[i].v, marks[i].pattern);
        check_rounding(marks[i].t, -marks[i].v, marks[i].pattern | sign_bit(marks[i].t));
    }
    for (const struct format *f = formats; f < formats + FORMATS; f++) {
        double largest = from_fields(f, f->infinity - 1), normal = from_fields(f, 1u << f->bits);
        double unit = ldexp(1, -1 - f->bits);
        cr_assert(ref_largest(f->t) == largest && ref_smallest_normal(f->t) == normal &&
                      ref_unit(f->t) == unit,
                  "%s: largest %La, smallest normal %La, unit %La; expected %a, %a, %a",
                  nl_dtype_name(f->t), ref_largest(f->t), ref_smallest_normal(f->t), ref_unit(f->t),
                  largest, normal, unit);
    }
    cr_assert(ref_largest(NL_F32) == 0x1.fffffep127L && ref_unit(NL_F32) == 0x1p-24L &&
                  ref_smallest_normal(NL_F32) == 0x1p-126L,
              "f32: largest %La, smallest normal %La, unit %La", ref_largest(NL_F32),
              ref_smallest_normal(NL_F32), ref_unit(NL_F32));
}

/* The kernels' conversion and the reference's agree on a million float patterns of every kind. */
Test(dtype, agrees_with_reference) {
    uint64_t seed = 1;
    for (int i = 0; i < 1000000; i++) {
        float v = nl_from_bits((uint32_t)random_bits(&seed));
        for (nl_dtype t = NL_F32; t < NL_DTYPES; t++) {
            float rounded = nl_round(t, v);
            bool signs = !signbit(rounded) == !signbit(v);
            if (!signs || !same(rounded, ref_round(t, v)))
                cr_assert_fail("%s of %a: nl_round %a, ref_round %La", nl_dtype_name(t), (double)v,
                               (double)rounded, ref_round(t, v));
        }
    }
}

/* ref_round to float agrees with the processor, from below the subnormals to overflow. Half of the
 * numbers are so near the midpoint of two floats that rounding them to double, if double is shorter
 * than long double, gives the midpoint. */
Test(dtype, reference_rounds_to_float) {
    uint64_t seed = 2;
    for (int i = 0; i < 1000000; i++) {
        const uint64_t bits = random_bits(&seed) >> 11;
        const int exponent = (int)(random_bits(&seed) % 284) - 207;
        long double v = ldexpl((long double)bits, exponent);
        if (i & 2) {
            const float low = (float)v;
            v = ((long double)low + nextafterf(low, INFINITY)) / 2;
            v = isinf(v) ? low : v + v * LDBL_EPSILON * (2 * (int)(bits % 5) - 4);
        }
        if (i & 1) v = -v;
        if (!same(ref_round(NL_F32, v), (float)v))
            cr_assert_fail("ref_round to f32 of %La: %La, expected %a", v, ref_round(NL_F32, v),
                           (double)(float)v);
    }
}

/* Storing element i does not change its neighbours. */
Test(dtype, elements) {
    float floats[3] = {1, 2, 3};
    nl_store(NL_F32, floats, 1, 0x1.234568p-130f);
    cr_assert(floats[0] == 1 && floats[1] == 0x1.234568p-130f && floats[2] == 3 &&
                  nl_load(NL_F32, floats, 1) == floats[1],
              "f32: {%a, %a, %a}", (double)floats[0], (double)floats[1], (double)floats[2]);
    for (const struct format *f = formats; f < formats + FORMATS; f++) {
        const char all[] = "aabbccdd";
        char room[sizeof all] = "aabbccdd";
        const size_t size = nl_dtype_bytes(f->t);
        nl_store(f->t, room, 1, 1.5f);
        cr_assert(!memcmp(room, all, size) &&
                      !memcmp(room + 2 * size, all + 2 * size, sizeof all - 2 * size) &&
                      nl_load(f->t, room, 1) == 1.5f,
                  "%s: %g", nl_dtype_name(f->t), (double)nl_load(f->t, room, 1));
    }
    uint32_t nan = nl_bits(nl_round(NL_F32, nl_from_bits(0xffc12345)));
    cr_assert(nan == 0xffc12345, "f32 NaN ffc12345 becomes %08x", nan);
}
