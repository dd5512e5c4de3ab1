/* The limit's loops, the movers, must move every byte and touch no other byte, in every way and on
 * any number of threads. The fastest way must be chosen. SPDX-License-Identifier: MIT */
#include "timing/limit.h"
#include "base/random.h"
#include "platform/platform.h"
#include "timing/candidate.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 70000, GUARD = 256 };

static float a[MAX / 4], b[MAX / 4], c[MAX / 4], b_and_c[MAX / 4];
static _Alignas(64) char y[MAX + GUARD], z[MAX + GUARD];

static bool untouched(const char *from) {
    for (int i = 0; i < GUARD; i++)
        if (from[i] != 0x55) return false;
    return true;
}

/* Is `out` x + plus, or x if plus is NULL? After the last whole block of 64 bytes, movers may copy
 * x without adding plus. */
static bool holds(const char *out, const float *x, const float *plus, size_t bytes) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        float got, sum = x[i / 4] + (plus ? plus[i / 4] : 0);
        memcpy(&got, out + i, 4);
        bool rest = plus && i >= bytes - bytes % 64 && got == x[i / 4];
        if (got != sum && !rest) return false;
    }
    return true;
}

static void move(int reads, int writes, limit_way way, size_t bytes, int threads) {
    limit_job j = {.in = {reads > 0 ? a : NULL, reads > 1 ? b : NULL, reads > 2 ? c : NULL},
                   .out = {writes > 0 ? y : NULL, writes > 1 ? z : NULL},
                   .reads = reads,
                   .writes = writes,
                   .bytes = bytes,
                   .way = way};
    memset(y, 0x55, sizeof y);
    memset(z, 0x55, sizeof z);
    limit_move(&j, threads);
}

Test(limit, moves_what_it_says) {
    static const size_t sizes[] = {0, 4, 60, 64, 252, 2048, 4100, 65536, 69996};
    for (size_t i = 0; i < MAX / 4; i++) {
        a[i] = (float)(i + 1), b[i] = (float)(2 * i + 3), c[i] = (float)(3 * i + 7);
        b_and_c[i] = b[i] + c[i];
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned k = 0; k < 32; k++) {
            size_t n = sizes[s];
            char name[64];
            limit_way way = {.store = k % 2,
                             .brief = k / 2 % 2,
                             .narrower = k / 4 % 2,
                             .ahead = k / 8};
            limit_way_name(way, name);
            move(1, 1, way, n, 1);
            cr_expect(holds(y, a, NULL, n) && untouched(y + n), "copy of %zu, %s", n, name);
            move(2, 1, way, n, 1);
            cr_expect(holds(y, a, b, n) && untouched(y + n), "2 + 1 of %zu, %s", n, name);
            move(3, 1, way, n, 1);
            cr_expect(holds(y, a, b_and_c, n) && untouched(y + n), "3 + 1 of %zu, %s", n, name);
            move(2, 2, way, n, 1);
            cr_expect(holds(y, a, NULL, n) && holds(z, b, NULL, n) && untouched(y + n) &&
                          untouched(z + n),
                      "2 + 2 of %zu, %s", n, name);
            move(3, 2, way, n, 1);
            cr_expect(holds(y, a, b_and_c, n) && holds(z, b, c, n) && untouched(y + n) &&
                          untouched(z + n),
                      "3 + 2 of %zu, %s", n, name);
            move(0, 1, way, n, 1);
            bool written = untouched(y + n);
            for (size_t i = 0; i < n; i++) written = written && y[i] != 0x55;
            cr_expect(written, "write of %zu, %s", n, name);
            for (int threads = 2; threads <= 3; threads++) {
                move(1, 1, way, n, threads);
                cr_expect(holds(y, a, NULL, n) && untouched(y + n), "%d threads, copy of %zu, %s",
                          threads, n, name);
            }
        }
}

/* Every byte that the limit counts is moved, parameters and statistics included, for one row and
 * for several. */
Test(limit, writes_every_output_of_a_case) {
    static const char *const cases[] = {"layernorm/backward/f32/1x1024/normal",
                                        "layernorm/backward/f16/3x100/normal",
                                        "gated_rmsnorm/backward/f32/1x1024/normal",
                                        "layernorm/forward/bf16/3x70/normal/residual",
                                        "batchnorm/forward/f32/8x20x3/normal",
                                        "batchnorm/inference/f32/8x20x3/normal"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        nl_case one;
        fixture f;
        char error[700];
        cr_assert(case_parse(cases[k], &one, error, sizeof error), "%s", error);
        cr_assert(fixture_make(NULL, &f, &one, 0, 1, error, sizeof error), "%s", error);
        limit_candidate candidate = {.on = &f, .threads = 1};
        measure_candidate m = limit_candidate_measured(&candidate);
        const struct nl_pass_row *pass = &nl_passes[one.problem.pass];
        for (nl_arg s = 0; s < NL_ARGS; s++)
            if (f.in->at[s] && pass->writes & ~pass->reads & NL_BIT(s))
                memset(f.in->at[s], 0x55, f.data.bytes[s]);
        m.call(m.context, 0);
        for (nl_arg s = 0; s < NL_ARGS; s++) {
            const char *at = f.in->at[s];
            if (!at || !(pass->writes & ~pass->reads & NL_BIT(s))) continue;
            cr_expect(memcmp(at, "\x55\x55", 2) != 0, "%s: %s", cases[k], nl_args[s].name);
            cr_expect(memcmp(at + f.data.bytes[s] - 2, "\x55\x55", 2) != 0, "%s: end of %s",
                      cases[k], nl_args[s].name);
        }
        fixture_free(&f);
    }
}

/* A machine on which one way is fastest. Ways with the same stores and prefetching as the fastest
 * take 4 % longer, all others 20 %. Trials are up to 10 % too slow, and one trial takes three times
 * as long. */
typedef struct machine {
    limit_way best;
    size_t trials, slow;
    double ns;
} machine;

static double fake_trial(void *context, limit_way w) {
    machine *m = context;
    bool same = w.store == m->best.store && w.ahead == m->best.ahead && w.brief == m->best.brief &&
                w.narrower == m->best.narrower;
    bool alike = w.store == m->best.store && w.ahead == m->best.ahead;
    double ns = m->ns * (same ? 1 : alike ? 1.04 : 1.2);
    if (m->trials == m->slow) ns *= 3;
    return ns * (1 + 0.1 * random_uniform(1, m->trials++));
}

Test(limit, the_fastest_way_is_chosen) {
    size_t missed = 0, tried = 0;
    for (unsigned k = 0; k < 2400; k++) {
        machine m = {.ns = k < 1200 ? 1e4 : 1e7, .slow = k < 1200 ? k % 7 : SIZE_MAX};
        m.best = (limit_way){.store = has_streaming_stores() && k % 2, .ahead = k / 8 % 4};
        if (m.ns < 1e6) m.best.brief = k / 2 % 2, m.best.narrower = k / 4 % 2;
        limit_way w = limit_choose(LIMIT_EITHER, true, fake_trial, &m);
        cr_expect(w.store == m.best.store && w.ahead == m.best.ahead, "way %u", k);
        missed += w.brief != m.best.brief || w.narrower != m.best.narrower;
        tried += m.trials;
    }
    cr_expect(missed < 120, "%zu of 2400 missed by 4 %%", missed);
    cr_expect(tried < 2400 * 170, "%zu trials", tried);
    machine m = {.ns = 1e4, .best = {.store = LIMIT_ORDINARY}};
    cr_expect(limit_choose(LIMIT_STREAM, true, fake_trial, &m).store == LIMIT_STREAM ||
              !has_streaming_stores());
}
