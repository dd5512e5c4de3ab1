/* Every word of optimized/vec.h against its scalar meaning (core/dtype.h, tested in tests/library/dtype.c):
 * each lane, storage type and count of real lanes, between two guard pages. Compiled like the
 * kernels, once for every instruction set. No test can find a missing vfence: it decides when
 * another thread sees a streaming store, and on x86 the wrong moment is too rare.
 * SPDX-License-Identifier: MIT */
#include "words.h"
#include "gated/silu.h"
#include "vec.h"

#include <float.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char *report, *page; /* the page with access */
static size_t report_size, page_size;

/* Where rounding, overflow, underflow or NaN may go wrong; value() gives them both signs. */
static const uint32_t special[] = {
    0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001,             /* float's smallest */
    0x32ffffff, 0x33000000, 0x33000001, 0x33bfffff, 0x33c00000, 0x33c00001, /* f16's smallest */
    0x387fdfff, 0x387fe000, 0x387fe001, 0x387fefff, 0x387ff000, 0x38800000, /* its normal ones */
    0x477fdfff, 0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000, /* and its largest */
    0x00007fff, 0x00008000, 0x00008001, 0x00017fff, 0x00018000, 0x00018001, /* bf16's smallest */
    0x7f7f0000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000,             /* its largest; Inf */
    0x7f800001, 0x7f801fff, 0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffffff, /* NaN of all kinds */
    0x3f800000, 0x3f7fffff, 0x3f800001, 0x3f808000, 0x3f818000, 0x3f801000, 0x3f803000,
};
enum { SPECIAL = 2 * sizeof special / sizeof *special, PATTERNS = 0x10000 };

/* Random bits that depend on n alone: George Marsaglia's xorshift. */
static uint32_t bits(size_t n) {
    uint32_t u = (uint32_t)n + 0x9e3779b9;
    for (int i = 0; i < 8; i++) u ^= u << 13, u ^= u >> 17, u ^= u << 5;
    return u;
}

/* Number n to store as t: the special ones; then the midpoints between neighbours of a 16-bit type,
 * and the floats next to them; for f32 any bits. */
enum { VALUES = SPECIAL + 3 * PATTERNS };
static float value(nl_dtype t, size_t n) {
    if (n < SPECIAL) return nl_from_bits(special[n / 2] | (uint32_t)(n % 2) << 31);
    if (t == NL_F32) return nl_from_bits(bits(n));
    uint16_t low = (uint16_t)((n - SPECIAL) / 3);
    uint32_t middle = (uint32_t)low << 16 | 0x8000;
    if (t == NL_F16) middle = nl_bits((nl_from_f16(low) + nl_from_f16(low + 1)) / 2);
    return nl_from_bits(middle + (uint32_t)(n % 3) - 1);
}

/* A number between 2^-15 and 2, of either sign. */
static float moderate(size_t n) {
    uint32_t u = bits(n);
    return nl_from_bits((u & 0x807fffff) + 0x3f800000 - (u >> 27 & 15) * 0x00800000);
}

/* A vector as an array. */
typedef struct lanes {
    float at[VLEN];
} lanes;

static vf vector(lanes l) {
    vf v;
    memcpy(&v, &l, sizeof v);
    return v;
}

static void begin(const char *word, nl_dtype t, size_t k, const char *where) {
    snprintf(words_call, sizeof words_call - 1, "%s, %s, k = %zu of %d%s", word, nl_dtype_name(t),
             k, VLEN, where);
}

static bool fail(size_t lane, float got, float want) {
    snprintf(report, report_size, "%s: lane %zu is %a (%08x), not %a (%08x)", words_call, lane,
             (double)got, nl_bits(got), (double)want, nl_bits(want));
    return false;
}

/* All NaNs are equal. */
static bool same(float got, float want) {
    return nl_bits(got) == nl_bits(want) || (got != got && want != want);
}

static bool right(vf v, lanes want) {
    lanes got;
    memcpy(&got, &v, sizeof got);
    for (size_t l = 0; l < VLEN; l++)
        if (!same(got.at[l], want.at[l])) return fail(l, got.at[l], want.at[l]);
    return true;
}

/* Where k elements lie on the page, aligned and not. */
enum { START, END, ODD, PLACES };
static const char *const places[] = {", at a page's start", ", at a page's end", ", not aligned"};

static char *place(int where, nl_dtype t, size_t k) {
    const size_t size = nl_dtype_size(t);
    return page + (where == START ? 0 : where == END ? page_size - k * size : 1024 + size);
}

/* The pointer p for which p[i] is at that place. */
static void *base(char *at, nl_dtype t, size_t i) {
    return (void *)((uintptr_t)at - i * nl_dtype_size(t));
}

/* Every pattern of a 16-bit type; and k elements at every place. */
static bool vload_is_right(nl_dtype t) {
    begin("vload", t, VLEN, "");
    for (size_t n = 0; n < PATTERNS; n += VLEN) {
        uint32_t a[VLEN];
        lanes want;
        for (size_t l = 0; l < VLEN; l++) {
            if (t == NL_F32) a[l] = nl_bits(value(t, n + l));
            if (t != NL_F32) memcpy((uint16_t *)a + l, &(uint16_t){(uint16_t)(n + l)}, 2);
        }
        for (size_t l = 0; l < VLEN; l++) want.at[l] = nl_load(t, a, l);
        if (!right(vload(t, a, 0, VLEN), want)) return false;
    }
    for (size_t i = 0; i < page_size / 4; i++) nl_store(t, page, i, moderate(i));
    for (size_t k = 0; k <= VLEN; k++)
        for (int where = START; where < PLACES; where++)
            for (size_t i = 0; i < 6; i += 5) {
                char *at = place(where, t, k);
                lanes want = {{0}};
                for (size_t l = 0; l < k; l++) want.at[l] = nl_load(t, at, l);
                begin("vload", t, k, places[where]);
                if (!right(vload(t, base(at, t, i), i, k), want)) return false;
            }
    return true;
}

/* Does the page hold k lanes of v at that place, and its old contents elsewhere? */
static bool stored(nl_dtype t, const char *at, size_t k, lanes v) {
    const char *end = at + k * nl_dtype_size(t);
    for (size_t l = 0; l < k; l++) {
        float got = nl_load(t, at, l), want = nl_round(t, v.at[l]);
        if (!same(got, want)) return fail(l, got, want);
    }
    for (const char *p = page; p < page + page_size; p++) {
        if (*p == 0x5a || (p >= at && p < end)) continue;
        snprintf(report, report_size, "%s: wrote at byte %td from its place", words_call, p - at);
        return false;
    }
    return true;
}

static bool vstore_and_vstream_are_right(nl_dtype t) {
    for (size_t k = 0; k <= VLEN; k++)
        for (int where = START; where < PLACES; where++)
            for (size_t i = 0; i < 6; i += 5) {
                lanes v;
                for (size_t l = 0; l < VLEN; l++) v.at[l] = moderate(32 * k + l);
                char *at = place(where, t, k);
                memset(page, 0x5a, page_size);
                begin("vstore", t, k, places[where]);
                vstore(t, base(at, t, i), i, k, vector(v));
                if (!stored(t, at, k, v)) return false;
                if (k < VLEN || where == ODD) continue;
                memset(page, 0x5a, page_size);
                begin("vstream", t, k, places[where]);
                vstream(t, base(at, t, i), i, vector(v));
                vfence();
                if (!stored(t, at, k, v)) return false;
            }
    return true;
}

/* Two vectors side by side; storing one must not depend on the other. */
static bool pairs_are_right(nl_dtype t) {
    for (int where = START; where < PLACES; where++)
        for (size_t n = 0; n < VALUES; n += VLEN) {
            lanes v[2];
            char *at = place(where, t, 2 * VLEN);
            for (size_t l = 0; l < VLEN; l++)
                v[n / VLEN % 2].at[l] = value(t, n + l),
                             v[1 - n / VLEN % 2].at[l] = moderate(n + l);
            for (int streams = 0; streams < (where == ODD ? 1 : 2); streams++) {
                begin(streams ? "vstream2" : "vstore2", t, VLEN, places[where]);
                if (streams)
                    vstream2(t, base(at, t, 5), 5, vector(v[0]), vector(v[1]));
                else
                    vstore2(t, base(at, t, 5), 5, vector(v[0]), vector(v[1]));
                vfence();
                for (size_t l = 0; l < 2 * VLEN; l++) {
                    const float got = nl_load(t, at, l);
                    const float want = nl_round(t, v[l / VLEN].at[l % VLEN]);
                    if (!same(got, want)) return fail(l, got, want);
                }
            }
        }
    return true;
}

/* Storing every value; vround, which must give the same; and vkeep. */
static bool rounding_is_right(nl_dtype t) {
    for (size_t n = 0; n < VALUES; n += VLEN) {
        lanes v, want;
        _Alignas(64) uint32_t a[VLEN], b[VLEN];
        for (size_t l = 0; l < VLEN; l++) v.at[l] = value(t, n + l);
        for (size_t l = 0; l < VLEN; l++) want.at[l] = nl_round(t, v.at[l]);
        begin("vround", t, VLEN, "");
        if (!right(vround(t, vector(v)), want)) return false;
        vstore(t, a, 0, VLEN, vector(v));
        vstream(t, b, 0, vector(v));
        vfence();
        for (size_t l = 0; l < VLEN; l++) {
            float x = nl_load(t, a, l), y = nl_load(t, b, l);
            begin("vstore", t, VLEN, "");
            if (!same(x, want.at[l])) return fail(l, x, want.at[l]);
            begin("vstream", t, VLEN, "");
            if (!same(y, want.at[l])) return fail(l, y, want.at[l]);
        }
        const size_t k = n / VLEN % (VLEN + 1);
        begin("vkeep", t, k, "");
        for (size_t l = 0; l < VLEN; l++) want.at[l] = l < k ? v.at[l] : 0;
        if (!right(vkeep(vector(v), k), want)) return false;
    }
    return true;
}

/* vset, and + - * / of any two special numbers. */
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

/* A double holds products of floats and the sums here, so rounding it to float rounds once. */
static bool vfma_is_right(void) {
    static const float few[] = {0,       -0.0f,     1,         -1,       INFINITY,
                                FLT_MAX, 0x1p-126f, 0x1p-149f, -FLT_MAX, NAN};
    enum { FEW = sizeof few / sizeof *few, TRIPLES = FEW * FEW * FEW };
    const bool once = PROCESSOR_FUSES && VLEN > 1; /* plain C never does */
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

/* Reduction by halves. */
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

/* Prefetching inaccessible memory does not fault. */
/* The distance in units of the scale, but for `off`, which an exp below the normal numbers may be off. */
static double units(float got, double want, double scale, double off) {
    return fmax(0, fabs(got - want) - off) / (0x1p-24 * fmax(scale, 0x1p-126));
}

/* exp(-|z|), silu and its derivative on VLEN numbers, within the bounds that silu.h and bound.c state. */
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
            snprintf(report, report_size, "%s of %a is %a, not %a",
                     i == 0   ? "exp(-|z|)"
                     : i == 1 ? "silu"
                              : "silu's derivative",
                     (double)z.at[l], (double)got[i].at[l], want[i]);
            return false;
        }
    }
    return true;
}

/* Each f16, and each 61st float from 0 to beyond where exp is 0, of both signs; and special ones. */
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

static bool vprefetch_is_right(void) {
    begin("vprefetch", NL_F32, 0, "");
    vprefetch(page - 1), vprefetch(page + page_size), vprefetch(NULL);
    return true;
}

#define NAMED_(isa) words_##isa
#define NAMED(isa) NAMED_(isa)
bool NAMED(NL_ISA)(char *why, size_t size) {
    report = why, report_size = size, page_size = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 3 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page = map + page_size;
    bool ok = map != MAP_FAILED && mprotect(page, page_size, PROT_READ | PROT_WRITE) == 0;
    if (!ok) snprintf(why, size, "no memory");
    for (nl_dtype t = 0; ok && NL_BIT(t) <= NL_VEC_DTYPES; t++)
        ok = vload_is_right(t) && vstore_and_vstream_are_right(t) && pairs_are_right(t) &&
             rounding_is_right(t);
    ok = ok && arithmetic_is_right() && vfma_is_right() && vsum_is_right() && vsums_is_right() &&
         vprefetch_is_right() && vsilu_is_right();
    if (map != MAP_FAILED) munmap(map, 3 * page_size);
    return ok;
}
