/* Tests the generator: the words of Philox, the contents of every kind of data, and the same bytes
 * for every machine, call and number of threads. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(data, .init = one_thread);

static trial make(const char *text) {
    trial t;
    trial_make_data(&t, text);
    return t;
}

static float value(const trial *m, nl_arg s, size_t i) {
    bool tensor = s == NL_X || s == NL_RESIDUAL || s == NL_DY;
    return nl_load(tensor ? m->c.problem.dtype : NL_F32, m->data.input[s], i);
}

/* Element e of group g plus its residual. */
static float x(const trial *m, size_t g, size_t e) {
    size_t i = element(&m->c.problem, g, e);
    return value(m, NL_X, i) + (m->c.residual ? value(m, NL_RESIDUAL, i) : 0);
}

/* Philox4x32-10, written from its paper and checked with the test vectors of Random123. */
static void philox(uint32_t c[4], const uint32_t key[2]) {
    uint32_t k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++, k[0] += 0x9E3779B9, k[1] += 0xBB67AE85) {
        uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0], c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1], c[3] = (uint32_t)a;
    }
}

/* Cached numbers equal computed ones, and another seed gives other numbers. */
Test(data, numbers_that_are_kept) {
    enum { COUNT = 1000 };
    double before[COUNT], other = NAN;
    for (uint64_t seed = 5; seed < 7; seed++) {
        random_seed(seed);
        for (uint64_t i = 0; i < COUNT; i++) before[i] = random_normal(NL_DY, i);
        cr_assert(before[7] != other);
        other = before[7];
        random_keep(NL_DY, COUNT / 2), random_keep(NL_DY, 3), random_keep(NL_DY, COUNT - 1);
        for (uint64_t i = 0; i < COUNT; i++)
            cr_assert(random_normal(NL_DY, i) == before[i], "%zu", (size_t)i);
    }
    random_seed(0);
}

Test(data, philox) {
    const uint32_t zero[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    const uint32_t ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    uint32_t c[4] = {0}, d[4] = {~0u, ~0u, ~0u, ~0u}, got[4];
    philox(c, (uint32_t[]){0, 0}), philox(d, (uint32_t[]){~0u, ~0u});
    cr_assert(!memcmp(c, zero, sizeof c) && !memcmp(d, ones, sizeof d), "the test is wrong");
    uint64_t seed = 5;
    for (int i = 0; i < 10000; i++) {
        uint64_t stream = i ? random_bits(&seed) : 0, index = i ? random_bits(&seed) : 0;
        c[0] = (uint32_t)index, c[1] = (uint32_t)(index >> 32), c[2] = c[3] = 0;
        philox(c, (uint32_t[]){(uint32_t)stream, (uint32_t)(stream >> 32)});
        random_words(stream, index, got);
        if (memcmp(got, c, sizeof c))
            cr_assert_fail("stream %#" PRIx64 ", index %#" PRIx64, stream, index);
    }
}

/* libm's normal distribution function maps each normal number to its uniform number. */
Test(data, distributions) {
    for (uint64_t i = 0; i < 200000; i++) {
        double u = random_uniform(3, i), z = random_normal(3, i), tail = fmin(u, 1 - u);
        double off = fabs(erfc(fabs(z) / sqrt(2)) / 2 - tail);
        if (!(u > 0 && u < 1) || !(off < 2e-8 * tail) || (z > 0) != (u > 0.5))
            cr_assert_fail("index %zu: uniform %.17g, normal %.17g", (size_t)i, u, z);
    }
}

/* FNV-1a over the bits of all inputs except the statistics, which are filled later. */
static uint64_t hash(const trial *m) {
    uint64_t h = 0xcbf29ce484222325;
    bool backward = m->c.problem.pass == NL_BACKWARD;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        if (!m->data.input[s] || (backward && (s == NL_MEAN || s == NL_RSTD))) continue;
        bool half = (s == NL_X || s == NL_RESIDUAL || s == NL_DY) && m->c.problem.dtype != NL_F32;
        for (size_t i = 0; i < m->data.bytes[s] / (half ? 2 : 4); i++) {
            uint32_t bits =
                half ? ((uint16_t *)m->data.input[s])[i] : ((uint32_t *)m->data.input[s])[i];
            for (int k = 0; k < 4; k++) h = (h ^ (bits >> 8 * k & 255)) * 0x100000001b3;
        }
    }
    return h;
}

Test(data, same_bytes_everywhere) {
    static const struct {
        const char *text;
        uint64_t hash;
    } pinned[] = {
        {"layernorm/forward/f32/300x301/normal/residual", 0x64c1e61c84180b35},
        {"layernorm/backward/f16/37x129/uniform", 0xd66a8dc2c2aaf784},
        {"rmsnorm/forward/bf16/37x129/offset:100", 0x58d201d50def2460},
        {"qwen2_rmsnorm/backward/f32/37x129/outliers", 0x522287b1ea0b5c26},
        {"batchnorm/forward/f32/6x5x49/constant", 0xf338cfdff7cef971},
        {"batchnorm/inference/f16/6x5x49/exact", 0x01ce9c6ec5b40347},
        {"layernorm/forward/bf16/37x129/exact/residual", 0x81285c90e2a5ba66},
        {"layernorm/forward/f32/37x129/nan", 0x404939e4fa384ec0},
        {"rmsnorm/forward/f16/37x129/scale:1000/residual", 0x129f3388020a7bf0},
        {"batchnorm/backward/f32/6x5x49/tiny/no-affine", 0xf04f4f3f8d18acac},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        for (int call = 0; call < 5; call++) {
            use_threads(call ? call : 4);
            trial m = make(pinned[i].text);
            uint64_t got = hash(&m);
            if (got != pinned[i].hash)
                cr_assert_fail("%s, call %d: the hash is 0x%016" PRIx64, pinned[i].text, call, got);
            data_free(&m.data);
        }
}

/* The mean of 65536 numbers, and the mean square and mean size of their deviations, are within five
 * standard errors. Parameters are not constant and mean(dy) is not 0, so that mistakes show. */
Test(data, moments) {
    static const struct {
        const char *text;
        nl_arg slot;
        double mean, square, size;
    } all[] = {
        {"layernorm/forward/f32/1x65536/normal", NL_X, 0, 1, 0.798},
        {"layernorm/forward/bf16/1x65536/uniform", NL_X, 0, 1.0 / 3, 0.5},
        {"layernorm/forward/f32/1x65536/offset:-100000", NL_X, -1e5, 1, 0.798},
        {"batchnorm/forward/f16/64x16x64/offset:2.5", NL_X, 2.5, 1, 0.798},
        {"rmsnorm/forward/f16/64x1024/scale:200", NL_X, 0, 40000, 159.6},
        {"batchnorm/forward/f32/64x16x64/scale:-1e-3", NL_X, 0, 1e-6, 0.000798},
        {"layernorm/forward/f32/64x1024/scale:10/residual", NL_RESIDUAL, 0, 1, 0.798},
        {"rmsnorm/forward/f16/64x1024/zeros/residual", NL_RESIDUAL, 0, 1, 0.798},
        {"layernorm/forward/f32/1x65536/nan", NL_GAMMA, 1, 1.0 / 16, 0.2},
        {"layernorm/forward/f32/1x65536/exact", NL_BETA, 0, 0.25, 0.4},
        {"gemma/backward/f32/1x65536/normal", NL_GAMMA, 0, 1.0 / 16, 0.2},
        {"batchnorm/forward/f32/2x65536/zeros", NL_RUNNING_MEAN, 0, 1, 0.798},
        {"batchnorm/inference/f32/1x65536/inf", NL_RUNNING_VAR, 1, 1.0 / 12, 0.25},
        {"rmsnorm/backward/f32/64x1024/constant", NL_DY, 0.5, 1, 0.798},
        {"batchnorm/backward/f16/64x16x64/uniform", NL_DY, 0.5, 1, 0.798},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        trial m = make(all[k].text);
        double sum = 0, squares = 0, sizes = 0, error = 5 * sqrt(all[k].square) / 256;
        for (size_t i = 0; i < 65536; i++) {
            double v = (double)value(&m, all[k].slot, i) - all[k].mean;
            sum += v / 65536, squares += v * v / 65536, sizes += fabs(v) / 65536;
        }
        if (fabs(sum) > error || fabs(squares - all[k].square) > 2 * error * sqrt(all[k].square) ||
            fabs(sizes - all[k].size) > error)
            cr_assert_fail("%s: the mean of %s is off by %g; squares %g, sizes %g", all[k].text,
                           nl_args[all[k].slot].name, sum, squares, sizes);
        data_free(&m.data);
    }
}

/* Float sums of x and x^2 are exact forwards, backwards and shuffled. The mean is exact too, and
 * the variance except in odd groups. */
static void check_exact(const trial *m, size_t g) {
    const size_t size = group_size(&m->c.problem), prime = 2654435761;
    double sum = 0, squares = 0;
    float sums[3] = {0}, square_sums[3] = {0};
    for (size_t e = 0; e < size; e++) {
        float v[3] = {x(m, g, e), x(m, g, size - 1 - e), x(m, g, e * prime % size)};
        for (int k = 0; k < 3; k++) sums[k] += v[k], square_sums[k] += v[k] * v[k];
        sum += (double)v[0], squares += (double)v[0] * (double)v[0];
    }
    float mean = sums[0] / (float)size, var = square_sums[0] / (float)size - mean * mean;
    double exact_var = squares / (double)size - (double)mean * (double)mean;
    const bool centred = nl_layers[m->c.problem.op].centred; /* else odd groups round the mean */
    bool right = (size % 2 && !centred) || (double)mean * (double)size == sum;
    right = right && (size % 2 || (double)var == exact_var);
    for (int k = 0; k < 3; k++) right = right && sums[k] == sum && square_sums[k] == squares;
    if (!right || (size > 1 && !(var > 0)))
        cr_assert_fail("%s, group %zu: mean %g, variance %g; sums %g %g %g, of squares %g %g %g",
                       m->c.text, g, (double)mean, (double)var, (double)sums[0], (double)sums[1],
                       (double)sums[2], (double)square_sums[0], (double)square_sums[1],
                       (double)square_sums[2]);
}

Test(data, exact) {
    case_list list = {0};
    char error[700];
    static const char *const spellings[] =
        {"{layernorm,rmsnorm}/forward/{f32,f16,bf16}/9x{1..67}/exact{,/residual}",
         "layernorm/forward/{f32,bf16}/3x{65535..65538}/exact/residual",
         "layernorm/forward/f32/1x4194304/exact", "batchnorm/forward/f32/{2,50,51}x7x{1,49}/exact"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        cr_assert(cases_add(&list, spellings[i], error, sizeof error), "%s", error);
    for (size_t i = 0; i < list.count; i++) {
        trial m = make(list.items[i].text);
        for (size_t g = 0; g < ref_groups(&m.c.problem); g++) check_exact(&m, g);
        data_free(&m.data);
    }
    trial m = {.c = list.items[0]};
    m.c.problem.c = 4194305, m.c.problem.n = 1;
    cr_assert(!data_make(&m.c, &m.data, error, sizeof error) && strstr(error, "4194304"), "%s",
              error);
    cases_free(&list);
}

/* A letter for the kind of value: NaN, infinite, zero, subnormal, large, or another. */
static char letter(float v) {
    float size = fabsf(v);
    if (isinf(v)) return v > 0 ? '+' : '-';
    return isnan(v) ? 'n' : v == 0 ? '0' : size < 0x1p-126f ? 's' : size > 1e26f ? 'l' : '.';
}

Test(data, special_kinds) {
    static const char *const shapes[] = {"layernorm/forward/f32/9x65/%s",
                                         "batchnorm/forward/f32/5x9x13/%s"};
    static const struct {
        const char *kind;
        char letter;
        size_t count[4]; /* [g % 4]: in group g */
    } kinds[] = {
        {"zeros", '0', {65, 65, 65, 65}}, {"constant", 'c', {65, 65, 65, 65}},
        {"nan", 'n', {1, 0, 1, 1}},       {"nan", '+', {0, 0, 0, 0}},
        {"inf", '-', {1, 0, 0, 0}},       {"inf", '+', {0, 0, 1, 1}},
        {"inf", 'n', {0, 0, 0, 0}},       {"huge", 'l', {65, 65, 65, 65}},
        {"tiny", 's', {65, 65, 65, 65}},
    };
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        char text[100], wanted = kinds[i / 2].letter;
        snprintf(text, sizeof text, shapes[i % 2], kinds[i / 2].kind);
        trial m = make(text);
        for (size_t g = 0; g < 9; g++) {
            size_t found = 0;
            float first = x(&m, g, 0), last = g ? x(&m, g - 1, 0) : NAN;
            for (size_t e = 0; e < 65; e++) /* 'c': a constant, different in each group */
                found += wanted == 'c' ? x(&m, g, e) == first && first != last
                                       : letter(x(&m, g, e)) == wanted;
            if (found != kinds[i / 2].count[g % 4])
                cr_assert_fail("%s: group %zu has %zu of '%c'", text, g, found, wanted);
        }
        data_free(&m.data);
    }
}

/* A few features are 50 times larger, and are the same features in every row. */
Test(data, outliers) {
    trial m = make("layernorm/forward/f32/400x640/outliers");
    size_t large = 0;
    for (size_t j = 0; j < 640; j++) {
        double squares = 0;
        for (size_t r = 0; r < 400; r++) squares += pow((double)x(&m, r, j), 2) / 400;
        large += squares > 2;
        if (squares > 2 ? squares < 1800 || squares > 3300 : squares < 0.7 || squares > 1.4)
            cr_assert_fail("feature %zu has mean square %g", j, squares);
    }
    cr_assert(large >= 4 && large <= 20, "%zu of 640 features are large; 10 were expected", large);
    data_free(&m.data);
}

/* How many of the 1000 values lie in [from, to)? */
static size_t between(const trial *m, float from, float to) {
    size_t found = 0;
    for (size_t e = 0; e < 1000; e++) found += x(m, 2, e) >= from && x(m, 2, e) < to;
    return found;
}

/* Counts the third row's values in an interval: exactly N for some kinds, else about as many as the
 * distribution gives. */
Test(data, shapes) {
    static const struct {
        const char *kind;
        float from, to;
        size_t low, high;
    } rules[] = {
        {"lognormal:3", 0, 1, 440, 560},
        {"lognormal:3", 20.085f, INFINITY, 115, 205},
        {"cauchy", -1, 1, 440, 560},
        {"cauchy", 6.3138f, INFINITY, 25, 80},
        {"head:1000", 900, 1100, 16, 16},
        {"head:1000", -100, 100, 984, 984},
        {"first:1000", 1000, 1001, 1, 1},
        {"middle:1000", 1000, 1001, 1, 1},
        {"last:1000", 1000, 1001, 1, 1},
        {"alternating:1000", 900, 1100, 500, 500},
        {"alternating:1000", -1100, -900, 500, 500},
        {"ramp:500", 0, 250.25f, 500, 500},
        {"ramp:500", 250.25f, 500.25f, 500, 500},
        {"decay:10", -0x1p-20f, 0x1p-20f, 780, 820},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char text[100];
        snprintf(text, sizeof text, "layernorm/forward/f32/3x1000/%s", rules[i].kind);
        trial m = make(text);
        size_t found = between(&m, rules[i].from, rules[i].to);
        cr_assert(found >= rules[i].low && found <= rules[i].high, "%s: %zu in [%g, %g)", text,
                  found, (double)rules[i].from, (double)rules[i].to);
        data_free(&m.data);
    }
    trial a = make("layernorm/forward/f32/3x1000/first:7"),
          b = make("layernorm/forward/f32/3x1000/last:7");
    trial c = make("batchnorm/forward/f32/10x3x100/middle:7"); /* sample 5, place 0 */
    cr_assert(x(&a, 1, 0) == 7 && x(&b, 1, 999) == 7 && x(&c, 1, 500) == 7);
    data_free(&a.data), data_free(&b.data), data_free(&c.data);
}
