/* Tests the search for a mechanism on synthetic data: lines with a known slope, errors with a known
 * pattern, and noise, which must have no mechanism. SPDX-License-Identifier: MIT */
#include "judge/mechanism.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>

static double noise(uint64_t *seed) { /* about normal */
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (double)(random_bits(seed) >> 11) * 0x1p-53;
    return sum;
}

Test(growth, finds_the_slope) {
    static const double slopes[] = {0, 0.5, 1, 1.5, 2, 3};
    enum { N = 64 };
    uint64_t seed = 1;
    for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++) {
        double kappa[N], error[N];
        for (int i = 0; i < N; i++) {
            kappa[i] = exp2(i / 6.0);
            error[i] = 10 * pow(kappa[i], slopes[k]) * exp(0.3 * noise(&seed));
        }
        growth g = growth_fit(kappa, error, N);
        cr_expect(fabs(g.slope - slopes[k]) < g.half_width + 0.02, "slope %g: %g +- %g", slopes[k],
                  g.slope, g.half_width);
        cr_expect(g.half_width < 0.1 && g.groups == N, "+- %g, %zu", g.half_width, g.groups);
        cr_expect(g.low == kappa[0] && g.high == kappa[N - 1]);
        cr_expect(g.decides == (slopes[k] > 0), "slope %g, correlation %g", slopes[k],
                  g.correlation);
    }
}

Test(growth, decides_only_on_enough) {
    enum { N = 32 };
    double kappa[N], error[N];
    for (int i = 0; i < N; i++) kappa[i] = exp2(i), error[i] = 4 * kappa[i];
    cr_expect(growth_fit(kappa, error, 8).decides);
    cr_expect(!growth_fit(kappa, error, 7).decides, "seven rows are too few");
    cr_expect(growth_fit(kappa, error, 2).groups == 2 && growth_fit(kappa, error, 2).slope == 0);
    /* Rows whose error is below 2 or not finite are left out: a constant 1 would bend the line. */
    for (int i = 0; i < 12; i++) error[i] = 1;
    error[20] = INFINITY, error[21] = NAN, kappa[22] = NAN, kappa[23] = 0;
    growth g = growth_fit(kappa, error, N);
    cr_expect(g.groups == N - 16 && fabs(g.slope - 1) < 1e-12, "%zu, %g", g.groups, g.slope);
    for (int i = 0; i < N; i++) kappa[i] = 1 + i / 10.0, error[i] = 9 * kappa[i] * kappa[i];
    cr_expect(!growth_fit(kappa, error, N).decides, "kappa 1 to 4 is too narrow");
    uint64_t seed = 2;
    for (int i = 0; i < N; i++) kappa[i] = exp2(i / 4.0), error[i] = exp(5 + 3 * noise(&seed));
    cr_expect(!growth_fit(kappa, error, N).decides, "the points lie on no line");
}

Test(growth, names_the_method) {
    growth g = {.slope = 2, .decides = true}, flat = {0}, grows = {.slope = 1, .decides = true};
    pattern offset = {.offset = 0.95, .rest = 0.05}, mixed = {.offset = 0.5, .rest = 0.5};
    nl_problem p = {.op = NL_LAYERNORM, .n = 9, .c = 16, .s = 1};
    subject s = {.p = &p}, low = {.p = &p, .narrow = NL_F16};
    cr_expect(strstr(growth_mechanism(&s, &g, &grows, &mixed), "one-pass"));
    g.slope = 1;
    cr_expect(strstr(growth_mechanism(&s, &g, &flat, &offset), "mean rounded"));
    cr_expect(strstr(growth_mechanism(&s, &g, &grows, &mixed), "folded"));
    cr_expect(strstr(growth_mechanism(&s, &g, &grows, &offset), "folded"));
    cr_expect_null(growth_mechanism(&s, &g, &flat, &mixed));
    g.slope = 0.2;
    cr_expect_null(growth_mechanism(&s, &g, &grows, &offset));
    cr_expect(strstr(growth_mechanism(&low, &g, &flat, &offset), "16 bits"));
    offset.offset = 0.3;
    cr_expect_null(growth_mechanism(&low, &g, &flat, &offset));
    offset.scale = 0.1;
    cr_expect(strstr(growth_mechanism(&low, &g, &flat, &offset), "16 bits"));
    offset.rest_rms = 0.7;
    cr_expect_null(growth_mechanism(&low, &g, &flat, &offset), "more than rounding is left");
    offset.rest_rms = 0.5, p.c = 15, offset.offset = 0.9;
    cr_expect_null(growth_mechanism(&low, &g, &flat, &offset),
                   "c = 15: two fitted numbers may match by chance");
    g.slope = 2, g.decides = false;
    cr_expect_null(growth_mechanism(&s, &g, &flat, &offset));
}

/* A subject on random data, with the reference's y. */
typedef struct specimen {
    trial t;
    instance shell; /* an instance without buffers, for the bounds */
    expectations expectations;
    subject s;
    double y[48];
} specimen;

static void specimen_make(specimen *t, nl_op op, size_t n, size_t c) {
    char text[CASE_TEXT];
    snprintf(text, sizeof text, "%s/forward/f32/%zux%zu/normal", nl_op_name(op), n, c);
    trial_make(&t->t, text);
    t->shell = (instance){.c = &t->t.c, .data = &t->t.data};
    cr_assert(expectations_make(&t->shell, &t->t.want.want, &t->expectations));
    t->s = subject_of(&t->t.c.problem, &t->t.want, &t->expectations);
    t->s.got[NL_Y] = t->y;
    for (size_t i = 0; i < n * c; i++)
        t->y[i] = (double)expected_at(&t->expectations, NL_Y, i).want;
}

static void specimen_free(specimen *t) {
    expectations_free(&t->expectations), trial_end(&t->t);
}

static const nl_op ops[] = {NL_BATCHNORM, NL_LAYERNORM, NL_RMSNORM, NL_QWEN2_RMSNORM};
static specimen t;
static mechanism m;

/* Random errors of any size match no mistake. */
Test(mechanism, finds_nothing_in_noise) {
    static const size_t shapes[][2] = {{1, 8}, {2, 4}, {3, 3}, {5, 8}, {6, 5}};
    uint64_t seed = 5;
    size_t wrong = 0, tried = 0;
    for (size_t o = 0; o < 4; o++) {
        for (size_t i = ops[o] == NL_BATCHNORM; i < 5; i++) { /* BatchNorm: not n = 1 */
            for (int power = -20; power < 0; power += 2) {
                specimen_make(&t, ops[o], shapes[i][0], shapes[i][1]);
                for (size_t e = 0; e < shapes[i][0] * shapes[i][1]; e++)
                    t.y[e] += ldexp(noise(&seed), power);
                cr_assert(mechanism_find(&t.s, NULL, &m) && m.count > 10 &&
                          m.count < HYPOTHESES_MAX);
                wrong += m.found[0].explains, tried++;
                specimen_free(&t);
            }
        }
    }
    cr_expect(wrong == 0, "%zu of %zu explained", wrong, tried);
}

Test(mechanism, patterns_by_hand) {
    for (size_t o = 0; o < 4; o++) {
        for (int kind = 0; kind < 3; kind++) {
            specimen_make(&t, ops[o], 6, 8);
            uint64_t seed = 7;
            for (size_t i = 0; i < 48; i++) {
                double error = kind == 0   ? 1 + (double)(ops[o] ? i / 8 : i % 8)
                               : kind == 1 ? t.s.want->xhat[i]
                                           : noise(&seed);
                t.y[i] += 1e-3 * (double)ref_factor(t.s.p, t.s.in->gamma, t.s.want, i) * error;
            }
            double rest[48];
            pattern p = growth_pattern(&t.s, rest);
            double share = kind == 0 ? p.offset : kind == 1 ? p.offset + p.scale : p.rest;
            cr_expect(share > (kind < 2 ? 0.999 : 0.5), "%s %d: %g, %g, %g", nl_op_name(ops[o]),
                      kind, p.offset, p.scale, p.rest);
            cr_expect(fabs(p.offset + p.scale + p.rest - 1) < 1e-9);
            cr_expect(kind != 1 || p.scale > 0.5, "%s: scale %g", nl_op_name(ops[o]), p.scale);
            for (size_t g = 0; g < ref_groups(t.s.p); g++) /* in units of 2^-24 */
                cr_expect(kind < 2 ? rest[g] < 1e-3 : rest[g] > 1000 && rest[g] < 40000, "%g",
                          rest[g]);
            t.y[0] = NAN;
            cr_expect(growth_pattern(&t.s, rest).groups == p.groups - 1 && isinf(rest[0]));
            specimen_free(&t);
        }
    }
}
