/* A kind of data is a function of the element alone, so elements can be computed in any order.
 * SPDX-License-Identifier: MIT */
#include "cases/kinds.h"
#include "base/random.h"
#include "cases/museum.h"
#include "layer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Random streams of pick() and of the divisors in cauchy(). Smaller numbers are the streams of
 * arguments (nl_arg); larger ones are in data.c. */
enum { PICK = 14, BELOW = 15 };
_Static_assert(PICK >= (int)NL_GATE, "another nl_arg would get the stream of pick()");

static double pick(uint64_t n, size_t limit) {
    return floor(random_uniform(PICK, n) * (double)limit);
}

static double normal(const place *at, double k) {
    return k + random_normal(at->stream, at->i);
}

static double scaled(const place *at, double k) {
    return k * random_normal(at->stream, at->i);
}

/* The spike is element k; in a shorter group, the last element. */
static double spike(const place *at, double k) {
    size_t e = k < (double)at->m ? (size_t)k : at->m - 1;
    return at->e == e ? 1000 : random_normal(at->stream, at->i);
}

static double uniform(const place *at, double k) {
    (void)k;
    return 2 * random_uniform(at->stream, at->i) - 1;
}

static double constant(const place *at, double k) {
    (void)k;
    return 10 * random_normal(at->stream, at->g);
}

static double outliers(const place *at, double k) {
    (void)k;
    return random_normal(at->stream, at->i) * (random_uniform(PICK, at->j) < 1.0 / 64 ? 50 : 1);
}

/* Returns mean + size or mean - size, in pairs of opposite signs. The integers are so small that no
 * partial sum of x or x^2 reaches 2^24. If the layer subtracts the mean, groups of odd length get
 * mean 0 and end in a zero, since E[x^2] would round otherwise. In the RMS norms every mean is 0
 * and no element is zero, since the root would round otherwise. */
static double exact(const place *at, double k) {
    bool small = at->m > 65536;
    double mean = pick(at->g, small ? 3 : 17) - (small ? 1 : 8);
    double size = small ? 1 : ldexp(1, (int)pick(at->g + (1ull << 40), 3));
    (void)k;
    if (at->m % 2 || !at->centred) mean = 0;
    if (at->m % 2 && at->centred && at->e == at->m - 1) return 0;
    double sign = pick(at->g * (at->m / 2 + 1) + at->e / 2 + (1ull << 41), 2) != 0 ? 1 : -1;
    return mean + size * (at->e % 2 ? -sign : sign);
}

/* A third of the values is 0 and a sixth is -0. */
static double sparse(const place *at, double k) {
    const double u = random_uniform(PICK, at->i);
    (void)k;
    return u > 0.5 ? random_normal(at->stream, at->i) : u > 1.0 / 6 ? 0 : -0.0;
}

static double zeros(const place *at, double k) {
    (void)at, (void)k;
    return 0;
}

/* One special value in three of four groups: in all even groups, and in half of the odd groups. */
static double special(const place *at, double value) {
    bool here = at->g % 4 != 1 && at->e == (size_t)pick(at->g, at->m);
    return here ? value : random_normal(at->stream, at->i);
}

/* Takes turns between the usual NaN and two NaNs that a store would turn into 0 and -0 if it
 * rounded them as numbers. */
static double nan_somewhere(const place *at, double k) {
    static const uint64_t bits[] = {0x7ff8000000000000, 0xffffffffffffffff, 0x7fffffffffffffff};
    double nan;
    (void)k;
    memcpy(&nan, &bits[at->g / 2 % 3], sizeof nan);
    return special(at, nan);
}

static double inf_somewhere(const place *at, double k) {
    (void)k;
    return special(at, at->g % 4 ? INFINITY : -INFINITY);
}

static double huge(const place *at, double k) {
    (void)k;
    return 1e30 * random_normal(at->stream, at->i);
}

static double tiny(const place *at, double k) {
    (void)k;
    return 1e-39 * random_normal(at->stream, at->i);
}

/* 2^v, with the series of exp for the fraction, because libm's exp2 differs between machines. */
static double power_of_two(double v) {
    if (!(v > -1100)) return 0;
    if (v > 1100) return INFINITY;
    double whole = floor(v), z = (v - whole) * 0.69314718055994531, sum = 1;
    for (int n = 18; n > 0; n--) sum = 1 + sum * z / n;
    return ldexp(sum, (int)whole);
}

static double lognormal(const place *at, double k) {
    return power_of_two(k * random_normal(at->stream, at->i) * 1.4426950408889634);
}

static double cauchy(const place *at, double k) {
    (void)k;
    return random_normal(at->stream, at->i) / random_normal(BELOW, at->i);
}

static double decay(const place *at, double k) {
    return power_of_two(-(double)at->e / k) * random_normal(at->stream, at->i);
}

static double head(const place *at, double k) {
    return random_normal(at->stream, at->i) + (at->e < 16 ? k : 0);
}

/* All groups have the same values in their first three quarters. */
static double alike(const place *at, double k) {
    (void)k;
    return random_normal(at->stream, at->e < at->m / 4 * 3 ? at->e : at->i);
}

static double first(const place *at, double k) {
    return at->e == 0 ? k : random_normal(at->stream, at->i);
}

static double middle(const place *at, double k) {
    return at->e == at->m / 2 ? k : random_normal(at->stream, at->i);
}

static double last(const place *at, double k) {
    return at->e == at->m - 1 ? k : random_normal(at->stream, at->i);
}

static double alternating(const place *at, double k) {
    return random_normal(at->stream, at->i) + (at->e % 2 ? -k : k);
}

static double ramp(const place *at, double k) {
    return k * (double)(at->e + 1) / (double)at->m;
}

static double museum(const place *at, double k) {
    return museum_at((size_t)k)->value(at->g, at->e);
}

static const struct kind {
    const char *name;
    bool number; /* the name ends in ":K" */
    double (*value)(const place *, double k);
} kinds[] = {{"normal", false, normal},
             {"uniform", false, uniform},
             {"offset:", true, normal},
             {"scale:", true, scaled},
             {"spike:", true, spike},
             {"constant", false, constant},
             {"outliers", false, outliers},
             {"exact", false, exact},
             {"sparse", false, sparse},
             {"zeros", false, zeros},
             {"nan", false, nan_somewhere},
             {"inf", false, inf_somewhere},
             {"huge", false, huge},
             {"tiny", false, tiny},
             {"lognormal:", true, lognormal},
             {"cauchy", false, cauchy},
             {"decay:", true, decay},
             {"head:", true, head},
             {"alike", false, alike},
             {"first:", true, first},
             {"middle:", true, middle},
             {"last:", true, last},
             {"alternating:", true, alternating},
             {"ramp:", true, ramp}};

static const char *kind_names(void) {
    static char text[800];
    snprintf(text, sizeof text,
             "normal, uniform, offset:K, scale:K, spike:K, constant, outliers, sparse, exact, "
             "zeros, nan, inf, "
             "huge, tiny, lognormal:K, cauchy, decay:K, head:K, alike, first:K, middle:K, last:K, "
             "alternating:K, ramp:K, npy:FILE.npy or museum:NAME with one of the names %s",
             museum_names());
    return text;
}

const char *kind_expected(const char *name) {
    static char text[60];
    const size_t stem = strcspn(name, ":");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].number && strlen(kinds[i].name) == stem + 1 &&
            strncmp(name, kinds[i].name, stem) == 0)
            return snprintf(text, sizeof text, "%sK with a number K, as %s4", kinds[i].name,
                            kinds[i].name),
                   text;
    return strcmp(name, "file") == 0
               ? "data: write `file` in place of the shape, as in f32/file/npy:x.npy"
               : kind_names();
}

bool kind_find(const char *name, data_kind *out) {
    const exhibit *e = museum_find(name);
    *out = (data_kind){0};
    if (e) *out = (data_kind){.value = museum, .k = (double)(e - museum_at(0))};
    if (e || strncmp(name, "npy:", 4) == 0) return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];
        size_t length = k->number ? strlen(k->name) : strlen(name) + 1;
        if (strncmp(name, k->name, length) != 0) continue;
        char *end = "";
        *out =
            (data_kind){.value = k->value,
                        .k = k->number ? strtod(name + length, &end) : 0,
                        .exact = k->value == exact,
                        .ties = k->value == exact || k->value == zeros,
                        .random = k->value == normal || k->value == scaled || k->value == uniform};
        if (!k->number) return true;
        const bool place = k->value == spike; /* K is the index of an element */
        return end != name + length && *end == '\0' && isfinite(out->k) &&
               (!place || (out->k >= 0 && out->k == floor(out->k)));
    }
    return false;
}
