/* Tests the verdicts of claims, the paper's table and pRMSNorm, and that wrong kernels are not
 * timed. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/csv.h"
#include "base/interrupt.h"
#include "claims/evidence.h"
#include "timing/fixture.h"
#include "timing/race.h"
#include "support.h"

#include <signal.h>

TestSuite(claims, .init = one_thread);

Test(claims, verdicts) {
    static const struct {
        estimate wide;
        predicate expected;
        double same, margin;
        claim_verdict verdict;
    } table[] = {
        {{10, 9, 11}, {7, 15}, 0, 2, SUPPORTED},
        {{7, 7, 7}, {7, 15}, 0, 2, SUPPORTED},
        {{20, 19, 21}, {7, 15}, 0, 2, REFUTED},
        {{5, 3, 6}, {7, 15}, 0, 2, REFUTED},
        {{-20, -22, -18}, {7, 15}, 0, 2, REFUTED},
        {{14, 12, 16}, {7, 15}, 0, 2, UNRESOLVED},
        {{11, 0, 30}, {7, 15}, 0, 2, UNRESOLVED},
        {{1, -1, 1.9}, {7, 15}, 0, 2, EQUAL},
        {{1, -1, 1.9}, {0, INFINITY}, 0, 2, EQUAL}, /* above 0, but inside the margin */
        {{1, -1, 1.9}, {0, 0}, 0, 2, EQUAL},
        {{1, -1, 3}, {0, 0}, 0, 2, UNRESOLVED},
        {{5, 3, 6}, {0, 0}, 0, 2, REFUTED},
        {{4, 4, 4}, {4, 4}, NAN, 0, SUPPORTED},
        {{3, 3, 3}, {4, 4}, NAN, 0, REFUTED},
        {{0, 0, 0}, {4, 4}, NAN, 100, SUPPORTED},
        {{1.01, 1.0, 1.02}, {1.1, 1.15}, 1, 0.02, EQUAL},
        {{1e9, 1e9, 1e9}, {2, INFINITY}, 1, 1, SUPPORTED},
        {{4, 4, 4}, {4, INFINITY}, NAN, 1, REFUTED},
        {{4, 4, 4}, {-INFINITY, 4}, NAN, 1, REFUTED},
        {{5, 4, 6}, {4, INFINITY}, NAN, 1, UNRESOLVED},
        {{INFINITY, INFINITY, INFINITY}, {2, INFINITY}, 1, 1, SUPPORTED},
        {{5, -INFINITY, INFINITY}, {0, INFINITY}, 0, 2, UNRESOLVED},
        {{5, -INFINITY, INFINITY}, {-INFINITY, 10}, 0, 2, UNRESOLVED},
    };
    int seen = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        claim_verdict got =
            claim_decide(table[i].wide, table[i].expected, table[i].same, table[i].margin);
        seen |= 1 << got;
        cr_expect(got == table[i].verdict, "row %zu: %s, should be %s", i, claim_verdict_name(got),
                  claim_verdict_name(table[i].verdict));
    }
    cr_expect(seen == 15, "not every verdict was reached");
}

/* A NaN in the interval or in the predicate leaves the claim unresolved. */
Test(claims, nan_decides_nothing) {
    static const estimate bad[] = {{NAN, NAN, NAN}, {5, NAN, 6}, {5, 4, NAN}};
    static const predicate expected[] = {{0, INFINITY}, {-INFINITY, 10}, {5, 5}, {4, 6}};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++)
            cr_expect(claim_decide(bad[i], expected[k], 0, 1e9) == UNRESOLVED, "%zu, %zu", i, k);
    cr_expect(claim_decide((estimate){5, 4, 6}, (predicate){NAN, NAN}, NAN, 1) == UNRESOLVED);
    cr_expect(claim_decide((estimate){5, 4, 6}, (predicate){5, 5}, 0, NAN) == UNRESOLVED);
}

/* Nine tenths of the time: 10 % saved, 1.11 times as fast. The band widens the interval. */
Test(claims, figures) {
    estimate ratio = {log(0.9), log(0.88), log(0.93)};
    figure f = figure_saving(1, ratio, 0);
    cr_expect(fabs(f.value.median - 10) < 1e-9 && fabs(f.value.low - 7) < 1e-9 &&
                  fabs(f.value.high - 12) < 1e-9,
              "%g in [%g, %g]", f.value.median, f.value.low, f.value.high);
    cr_expect(f.band == 0 && f.wide.low == f.value.low && f.wide.high == f.value.high);
    f = figure_saving(0.5, ratio, log(1.01));
    cr_expect(fabs(f.wide.low - 50 * (1 - 0.93 * 1.01)) < 1e-9 &&
                  fabs(f.wide.high - 50 * (1 - 0.88 / 1.01)) < 1e-9 && f.band > 0.4 && f.band < 0.5,
              "[%g, %g], band %g", f.wide.low, f.wide.high, f.band);
    f = figure_speedup(1, ratio, 0);
    cr_expect(fabs(f.value.median - 1 / 0.9) < 1e-9 && f.value.low < f.value.high);
    f = figure_saving(1, (estimate){NAN, -INFINITY, INFINITY}, 0.01);
    cr_expect(claim_decide(f.wide, (predicate){-INFINITY, 100}, 0, 2) == UNRESOLVED);
    f = figure_saving(1, ratio, INFINITY);
    cr_expect(claim_decide(f.wide, (predicate){0, 50}, 0, 2) == UNRESOLVED, "an infinite band");
}

/* The RMSNorm paper's savings in %, and LayerNorm's share of a step, computed from the paper's
 * times. */
Test(claims, paper) {
    static const double printed[][3] = {{24.7, 25.9, 40.0}, {34.0, 33.4, 39.7}, {11.0, 12.0, 50.2},
                                        {6.9, 9.3, 15.3},   {15.1, 15.8, 19.6}, {40.8, 63.9, 82.4},
                                        {20.5, 23.1, 46.2}};
    cr_assert(paper_rows_count == 7);
    for (size_t i = 0; i < paper_rows_count; i++) {
        const paper_row *r = &paper_rows[i];
        double got[3] = {100 * paper_saving(r, r->rmsnorm).seconds,
                         100 * paper_saving(r, r->partial).seconds, 100 * paper_share(r)};
        for (int k = 0; k < 3; k++)
            cr_expect(fabs(got[k] - printed[i][k]) <= 0.0501, "%s: %g, printed %g", r->table,
                      got[k], printed[i][k]);
    }
    /* the quotient 0.7 has a relative error of sqrt(0.1^2 + 0.1^2) */
    paper_row r = {"", "", {0, 0}, {10, 1}, {7, 0.7}, {0, 0}};
    paper_time t = paper_saving(&r, r.rmsnorm);
    cr_expect(fabs(t.seconds - 0.3) < 1e-12 && fabs(t.error - 0.7 * sqrt(0.02)) < 1e-12);
}

/* A text that fills its buffer is cut between two characters of UTF-8, not within one. */
Test(claims, cut_between_characters) {
    static const char *const table[][2] = {
        {"", ""},
        {"ab", "ab"},
        {"a\xc3", "a"},
        {"a\xc3\xa9", "a\xc3\xa9"},
        {"a\xe2\x82", "a"},
        {"a\xe2\x82\xac", "a\xe2\x82\xac"},
        {"a\xf0\x9f\x98", "a"},
        {"a\xf0\x9f\x98\x80", "a\xf0\x9f\x98\x80"},
        {"\xa9", "\xa9"}, /* not UTF-8 */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[8];
        strcpy(text, table[i][0]);
        text_end_whole(text);
        cr_expect(strcmp(text, table[i][1]) == 0, "row %zu", i);
    }
}

static void wrong_forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    float *y = a->y;
    for (size_t i = 0; i < p->n * p->c; i++) y[i] = 0;
}

/* pRMSNorm is right by pRMSNorm's formula only, and RMSNorm by RMSNorm's formula only. */
Test(claims, partial) {
    static const char *const cases[] = {"rmsnorm/forward/f32/5x1024/normal",
                                        "rmsnorm/forward/f32/5x7/normal",
                                        "rmsnorm/forward/bf16/5x160/normal/residual",
                                        "rmsnorm/forward/f16/3x33/offset:3"};
    cr_expect(partial_features(1) == 1 && partial_features(31) == 1 &&
              partial_features(1024) == 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static fixtures all;
        char error[700];
        fixture *s = fixtures_get(&all, cases[i], error, sizeof error);
        if (!s) cr_assert_fail("%s", error);
        verdict v = fixture_verify(s, &partial_impl, 1);
        cr_expect(v.outcome == OUTCOME_OK && v.error_u < v.bound_u, "%s: %s %s", cases[i],
                  outcome_name(v.outcome), v.why);
        cr_expect(outputs_check(s->in, &s->want).outcome == OUTCOME_FAIL, "it is no RMSNorm");
        fixture_verify(s, nl_find("rmsnorm/one_pass", "c"), 1);
        s->in->impl = &partial_impl;
        cr_expect(outputs_check(s->in, &s->partial).outcome == OUTCOME_FAIL,
                  "RMSNorm is no pRMSNorm");
        fixtures_free(&all);
    }
}

/* A wrong implementation is not timed. */
Test(claims, wrong_ones_do_not_race) {
    static race by = {.seconds = 1e-4, .seed = 1};
    nl_impl bad = *nl_find("rmsnorm/one_pass", "c");
    bad.forward = wrong_forward;
    race_result r = {.rounds = 0};
    candidate a = {.threads = 1, .impl = {nl_find("layernorm/naive", "c")}};
    candidate b = {.threads = 1, .impl = {nl_find("rmsnorm/naive", "c")}};
    a.on[0] = fixtures_get(&by.all, "layernorm/forward/f32/4x64/normal", by.why, sizeof by.why);
    b.on[0] = fixtures_get(&by.all, "rmsnorm/forward/f32/4x64/normal", by.why, sizeof by.why);
    cr_assert(a.on[0] && b.on[0], "%s", by.why);
    cr_assert(race_pair(&by, &a, &b, &r), "%s", by.why);
    cr_expect(r.rounds > 0 && isfinite(r.ratio.median) && isfinite(r.band));
    b.impl[0] = &bad, r.rounds = 0;
    cr_expect(!race_pair(&by, &a, &b, &r) && r.rounds == 0);
    cr_expect(strstr(by.why, "rmsnorm/one_pass@c on rmsnorm/forward/f32/4x64/normal"), "%s",
              by.why);
    fixtures_free(&by.all);
}

/* Simulates passes with a true log ratio of 0. The noise between sittings has a tail and is three
 * times the noise between passes, so an interval from the passes' noise only would often miss 0. */
static bool holds_zero(uint64_t stream, size_t sittings, size_t passes, bool known) {
    claim c = {.q = quantity_find("speedup"), .expected = {0, INFINITY}, .share = 1, .settings = 1};
    evidence e = {.passes = sittings * passes};
    strcpy(c.at[0].how, "simd");
    for (uint64_t i = 0; i < e.passes; i++) {
        const uint64_t sitting = i / passes;
        const double hour =
            0.03 * random_normal(stream, sitting) / (0.5 + random_uniform(stream, 1000 + sitting));
        race_row r = {.how = "simd", .ok = true, .rounds = 20, .pass = i, .low = -1, .high = 1};
        r.ratio = hour + 0.01 * random_normal(stream, 2000 + i);
        r.when = known ? 1e9 + 1e4 * (double)sitting + 60 * (double)i : 1e9 + (double)i;
        cr_assert(evidence_add(&e, &r));
    }
    evidence_decide(&e, NULL, &c);
    evidence_free(&e);
    cr_assert(c.at[0].passes == sittings * passes);
    return c.at[0].f.value.low <= 1 && c.at[0].f.value.high >= 1;
}

Test(claims, sittings_are_a_level) {
    enum { TRIES = 4000 };
    for (size_t sittings = 3; sittings <= 8; sittings++)
        for (size_t passes = 1; passes <= 6; passes += 5) {
            size_t held[2] = {0};
            for (uint64_t t = 0; t < TRIES; t++)
                for (int known = 0; known < 2; known++)
                    held[known] += holds_zero(7000 + t, sittings, passes, known);
            cr_expect(held[1] >= 0.93 * TRIES, "%zu sittings of %zu passes: %zu of %d", sittings,
                      passes, held[1], TRIES);
            if (passes > 1)
                cr_expect(held[0] < 0.8 * TRIES, "as a single sitting: %zu of %d", held[0], TRIES);
        }
}

/* A visit in which other work slows both layers by `slow`, and changes their ratio as well. */
static race_result visit_of(double ns, double slow, double ratio) {
    const double log_ratio = ratio + (slow > 1 ? 0.4 : 0);
    return (race_result){.ratio = {log_ratio, log_ratio - 0.02, log_ratio + 0.02},
                         .aa = 0.001,
                         .band = 0.003,
                         .quiet = {log(ns * slow), log_ratio},
                         .quiet_aa = -0.004,
                         .rounds = 10};
}

Test(claims, disturbed_visits_do_not_count) {
    static const double student[] = {0, 0, 0, 4.303, 3.183};
    for (uint64_t draw = 0; draw < 500; draw++) {
        const size_t calm = (size_t)(random_uniform(31, draw) * VISITS);
        race_result visits[VISITS];
        double ratio[VISITS], mean = 0, squares = 0, low = INFINITY, high = -INFINITY;
        size_t used = 0;
        for (size_t i = 0; i < VISITS; i++) {
            const uint64_t at = draw * VISITS + i;
            const bool quiet = i == calm || random_uniform(32, at) < 0.6;
            const double r = 0.01 * random_normal(33, at), slow = 1.1 + random_uniform(35, at);
            visits[i] = visit_of(1e4 * (1 + 0.009 * random_uniform(34, at)), quiet ? 1 : slow, r);
            visits[i].quiet.log_time -= r / 2; /* the times of a and b decide */
            if (!quiet) continue;
            ratio[used++] = r, mean += r;
            low = fmin(low, r - 0.02), high = fmax(high, r + 0.02);
        }
        mean /= (double)used;
        for (size_t i = 0; i < used; i++) squares += (ratio[i] - mean) * (ratio[i] - mean);
        const double half =
            student[used] * sqrt(squares / (double)used / fmax((double)used - 1, 1));
        if (used > 2) low = mean - half, high = mean + half;
        const race_row row = race_row_of(visits, VISITS);
        cr_assert(row.ok && row.rounds == 10 * VISITS && row.visits == VISITS);
        cr_assert(fabs(row.ratio - mean) < 1e-12, "%zu: %g", (size_t)draw, row.ratio);
        cr_assert(fabs(row.low - low) < 1e-4 && fabs(row.high - high) < 1e-4,
                  "%zu: %g %g, not %g %g", (size_t)draw, row.low, row.high, low, high);
        cr_assert(fabs(row.aa + 0.004) < 1e-12 && row.band == 0.004);
    }
    const race_result one = visit_of(1e4, 2, 0.1);
    const race_row row = race_row_of(&one, 1); /* a large case: the median over the rounds */
    cr_expect(row.ratio == one.ratio.median && row.low == one.ratio.low && row.aa == one.aa);
    cr_expect(row.visits == 1 && row.band == one.band && row.rounds == 10);
}

/* Noise must not move the mean of a ratio, as it would if one layer's time chose the visits. */
Test(claims, visits_are_chosen_without_bias) {
    enum { TRIES = 20000 };
    double sum = 0;
    for (uint64_t t = 0; t < TRIES; t++) {
        race_result visits[VISITS];
        for (size_t i = 0; i < VISITS; i++) {
            const double a = 0.02 * random_normal(36, t * VISITS + i),
                         b = 0.02 * random_normal(37, t * VISITS + i);
            visits[i] = visit_of(exp(a), 1, b - a);
        }
        sum += race_row_of(visits, VISITS).ratio;
    }
    cr_expect(fabs(sum / TRIES) < 0.0006, "%g", sum / TRIES); /* 0.016 if a's time chose */
}

Test(claims, passes_of_several_visits_replace_others) {
    for (size_t several = 0; several <= 5; several++) {
        claim c = {.q = quantity_find("speedup"), .expected = {0, 9}, .share = 1, .settings = 1};
        evidence e = {.passes = 9};
        strcpy(c.at[0].how, "simd");
        for (size_t i = 0; i < 9; i++) {
            const bool visited = i % 2 && i / 2 < several;
            race_row r = {.how = "simd", .ok = true, .rounds = 20, .pass = i};
            r.ratio = visited ? 0 : -1, r.low = r.ratio - 0.1, r.high = r.ratio + 0.1;
            r.visits = visited ? VISITS : 1, r.when = 1e9 + 1000.0 * (double)i;
            cr_assert(evidence_add(&e, &r));
        }
        const size_t visited = several < 4 ? several : 4, want = visited < 3 ? 9 : visited;
        evidence_decide(&e, NULL, &c);
        evidence_free(&e);
        cr_expect(c.at[0].passes == want, "%zu: %zu", several, c.at[0].passes);
        cr_expect(c.at[0].f.rounds == 20 * want);
        cr_expect((c.at[0].f.value.median == 1) == (visited >= 3), "%zu", several);
    }
}

/* Fake races, which time nothing and count visits. HOW: the number of the visit that fails; "slow";
 * or "Ctrl-C", which comes in the third visit. */
static size_t visits_made;
static double time_planned;

static bool count_visit(const question *q, race_result *out) {
    *out = visit_of(1e4, 1, 0);
    visits_made++, time_planned += q->by->seconds;
    if (strcmp(q->how, "slow") == 0)
        for (const double begin = clock_ns(); clock_ns() - begin < 310e6;) continue;
    if (strcmp(q->how, "Ctrl-C") == 0 && visits_made == 3) {
        interrupt_watch();
        cr_assert(raise(SIGINT) == 0);
        out->ratio.low = -INFINITY, out->ratio.high = INFINITY;
    }
    return q->how[0] != '0' + (char)visits_made ||
           (snprintf(q->by->why, sizeof q->by->why, "wrong"), false);
}

static void no_progress(size_t done, size_t total, const char *what) {
    cr_expect(done < total || !*what, "%zu of %zu", done, total);
}

Test(claims, visits_of_a_race) {
    static const quantity counting = {"x", .of = figure_speedup, .race = count_visit};
    static const struct {
        const char *how, *tail;
        bool quick;
        size_t visits;
        double seconds;
        bool ok;
    } tries[] = {{"-", "forward/f32/4x8/normal", false, 4, 1, true},
                 {"-", "forward/f32/4x8/normal", true, 1, 1, true},
                 {"-", "forward/f32/4096x1024/normal", false, 1, 4, true},
                 {"1", "forward/f32/4x8/normal", false, 1, 0.25, false},
                 {"3", "forward/f32/4x8/normal", false, 3, 0.75, false},
                 {"slow", "forward/f32/4x8/normal", false, 2, 0.75, true}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        claim c = {.q = &counting, .share = 1, .settings = 1};
        claims_job j = {.claims = &c, .count = 1, .seconds = 0.1, .quick = tries[i].quick};
        j.progress = no_progress;
        snprintf(c.at[0].how, sizeof c.at[0].how, "%s", tries[i].how);
        snprintf(c.at[0].tail, sizeof c.at[0].tail, "%s", tries[i].tail);
        visits_made = 0, time_planned = 0;
        cr_assert(claims_race(&j) && j.evidence.count == 1);
        const race_row row = j.evidence.rows[0];
        cr_expect(visits_made == tries[i].visits, "%zu: %zu", i, visits_made);
        cr_expect(fabs(time_planned * 10 - tries[i].seconds) < 1e-9, "%zu: %g", i, time_planned);
        cr_expect(row.ok == tries[i].ok && strcmp(row.why, row.ok ? "" : "wrong") == 0, "%zu", i);
        cr_expect(!row.ok || (row.visits == visits_made && row.rounds == 10 * visits_made));
        evidence_free(&j.evidence);
    }
}

Test(claims, ctrl_c_keeps_whole_visits) {
    static const quantity counting = {"x", .of = figure_speedup, .race = count_visit};
    claim c = {.q = &counting, .share = 1, .settings = 1, .at = {{.how = "Ctrl-C", .tail = "x"}}};
    claims_job j = {.claims = &c, .count = 1, .seconds = 0.1, .progress = no_progress};
    visits_made = 0;
    cr_assert(claims_race(&j) && j.evidence.count == 1 && visits_made == 3);
    cr_expect(j.evidence.rows->visits == 2 && isfinite(j.evidence.rows->low));
    evidence_free(&j.evidence);
}
