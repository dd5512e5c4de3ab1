/* Tests the generator: the words of Philox, and the moments of the data. Each kind of data has the
 * same bytes on every machine, in every call and with any number of threads.
 * SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "cases/case.h"
#include "folder.h"
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
    return nl_load(is_tensor(s) ? m->c.problem.dtype : NL_F32, m->data.input[s], i);
}

/* Element e of group g plus the element's residual, if any. */
static float x(const trial *m, size_t g, size_t e) {
    size_t i = element(&m->c.problem, g, e);
    return value(m, NL_X, i) + (m->c.residual ? value(m, NL_RESIDUAL, i) : 0);
}

/* Numbers from the cache equal computed numbers, and another seed gives different numbers. */
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

/* The test vectors of Random123. */
Test(data, philox) {
    static const uint32_t want[2][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}};
    for (int i = 0; i < 2; i++) {
        const uint64_t bits = i ? UINT64_MAX : 0;
        uint32_t got[4];
        random_seed(bits);
        random_words(bits, bits, got);
        cr_assert(memcmp(got, want[i], sizeof got) == 0, "vector %d", i);
    }
    random_seed(0);
}

/* The normal distribution function, by libm, maps each normal number back to the uniform number. */
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
        bool half = is_tensor(s) && m->c.problem.dtype != NL_F32;
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
        {"layernorm/forward/f32/37x129/huge", 0xf1a32bfaae5c98f7},
        {"layernorm/forward/f32/37x129/zeros", 0x87fa5d183bec664e},
        {"layernorm/forward/f32/37x129/inf", 0x1617dc99d4b0ea50},
        {"layernorm/forward/f32/37x129/sparse", 0x323beba934627971},
        {"layernorm/forward/f32/37x129/spike:7", 0xafc714d81ed64c01},
        {"layernorm/forward/f32/37x129/lognormal:3", 0x76fe70993b0ab64f},
        {"layernorm/forward/f32/37x129/cauchy", 0x9c0210886c470b11},
        {"layernorm/forward/f32/37x129/decay:10", 0x272270f46f1c01b0},
        {"layernorm/forward/f32/37x129/head:1000", 0x310069a06186ae5c},
        {"layernorm/forward/f32/37x129/alike", 0x263be34540df8bfa},
        {"layernorm/forward/f32/37x129/first:1000", 0x5967f86b966270f9},
        {"layernorm/forward/f32/37x129/middle:1000", 0x4eeb8d498029ac85},
        {"layernorm/forward/f32/37x129/last:1000", 0x41d476d558d2e3b6},
        {"layernorm/forward/f32/37x129/alternating:1000", 0xc2df6202a4b8c52f},
        {"layernorm/forward/f32/37x129/ramp:500", 0x7f8a4fcc809c4238},
        {"batchnorm/forward/f32/6x5x49/middle:7", 0xb7e64c8de6247f1d},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        for (int call = 0; call < 5; call++) {
            use_threads(call ? call : 4);
            trial m = make(pinned[i].text);
            uint64_t got = hash(&m);
            cr_expect(got == pinned[i].hash, "%s, call %d: the hash is 0x%016" PRIx64,
                      pinned[i].text, call, got);
            data_free(&m.data);
        }
}

/* The mean of 65536 numbers, and the mean square and mean size of their deviations, are within five
 * standard errors of theory. Parameters vary and mean(dy) is not 0, so that mistakes show. */
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

/* Float sums of x and x^2 are exact in each order: forwards, backwards and shuffled. If the group's
 * size is even, the mean and the variance are exact, too. If the size is odd, only the mean is
 * exact, and only in a centred layer. */
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
    const bool centred = nl_layers[m->c.problem.op].centred; /* else odd sizes round the mean */
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

/* gamma that a file gives, like x, is stored in the parameters' type. */
Test(data, gamma_of_a_file) {
    enum { C = 700 };
    const size_t shape[] = {1, C};
    float numbers[C];
    char gamma[300], text[400], error[700];
    for (int i = 0; i < C; i++) numbers[i] = 1 + 0.5f * (float)(i % 3);
    enter_folder("a.x.npy");
    snprintf(gamma, sizeof gamma, "%s/a.gamma.npy", folder);
    cr_assert(npy_write(path, 'f', 2, shape, numbers, error, sizeof error) &&
                  npy_write(gamma, 'f', 1, shape + 1, numbers, error, sizeof error),
              "%s", error);
    snprintf(text, sizeof text, "rmsnorm/forward/bf16/file/npy:%s/parameters=bf16", path);
    trial t = make(text);
    cr_expect(t.data.bytes[NL_GAMMA] == 2 * C);
    for (size_t i = 0; i < C; i++)
        if (nl_load(NL_BF16, t.data.input[NL_GAMMA], i) != numbers[i] ||
            t.data.gamma[i] != numbers[i])
            cr_assert_fail("gamma %zu is %g, not %g", i, (double)t.data.gamma[i],
                           (double)numbers[i]);
    trial_end(&t);
    leave_folder();
}
