/* The verdicts of claims, their files, the paper's table, pRMSNorm, and that wrong kernels are not
 * timed. SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "claims/evidence.h"
#include "timing/fixture.h"
#include "timing/race.h"
#include "folder.h"
#include "support.h"

#include <glob.h>

static void begin(void) {
    one_thread();
    enter_folder("a claim.txt");
}

TestSuite(claims, .init = begin, .fini = leave_folder);

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
        {{1, -1, 1.9}, {0, INFINITY}, 0, 2, EQUAL}, /* above 0, but within the margin */
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

/* A NaN anywhere, also in the predicate. */
Test(claims, nan_decides_nothing) {
    static const estimate bad[] = {{NAN, NAN, NAN}, {5, NAN, 6}, {5, 4, NAN}};
    static const predicate expected[] = {{0, INFINITY}, {-INFINITY, 10}, {5, 5}, {4, 6}};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++)
            cr_expect(claim_decide(bad[i], expected[k], 0, 1e9) == UNRESOLVED, "%zu, %zu", i, k);
    cr_expect(claim_decide((estimate){5, 4, 6}, (predicate){NAN, NAN}, NAN, 1) == UNRESOLVED);
    cr_expect(claim_decide((estimate){5, 4, 6}, (predicate){5, 5}, 0, NAN) == UNRESOLVED);
}

/* Nine tenths of the time is 10 % saved and 1.11 times as fast; the band widens both ends. */
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

/* The percentages in the paper, and the resulting shares. */
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
    /* 0.7 +- sqrt(0.1^2 + 0.1^2) of it */
    paper_row r = {"", "", {0, 0}, {10, 1}, {7, 0.7}, {0, 0}};
    paper_time t = paper_saving(&r, r.rmsnorm);
    cr_expect(fabs(t.seconds - 0.3) < 1e-12 && fabs(t.error - 0.7 * sqrt(0.02)) < 1e-12);
}

static bool read_text(const char *text, claim *c, char *error) {
    spill(path, text, strlen(text));
    return claim_read(path, c, error, 700);
}

static bool read_pass(const char *rows, evidence *e, char *error) {
    char text[500];
    snprintf(text, sizeof text,
             "how,case,verdict,log_ratio,log_low,log_high,aa_band,rounds,why,log_aa\n%s", rows);
    spill(path, text, strlen(text));
    *e = (evidence){0};
    return evidence_read(e, path, error, 700);
}

/* A damaged pass decides nothing: an infinite ratio would be an interval without width. */
Test(claims, passes_that_are_damaged) {
    static const char *const bad[] = {"inf,inf,inf,0.1,12,,0",   "nan,nan,nan,0.1,12,,0",
                                      "-0.1,0,0,0.1,12,,0",      "-0.1x,-0.2,0,0.1,12,,0",
                                      "-0.1,-0.2,0,-1,12,,0",    "-0.1,-0.2,0,0.1,0,,0",
                                      "-0.1,-0.2,0,0.1,1e30,,0", "-0.1,-0.2,0,0.1,,,0",
                                      "-0.1,-0.2 0,0,0.1,12,,0"};
    char error[700], row[100];
    evidence e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(row, sizeof row, "simd,forward/f32/4x8/normal,ok,%s\n", bad[i]);
        cr_assert(read_pass(row, &e, error), "%s", error);
        cr_expect(e.count == 1 && !e.rows->ok && strstr(e.rows->why, "no such numbers"), "%s",
                  bad[i]);
        evidence_free(&e);
    }
    cr_assert(read_pass("simd,x,ok,-0.1,-0.2,0,0.1,12,,inf\n", &e, error), "%s", error);
    cr_expect(e.rows->ok && isnan(e.rows->aa), "the band takes its place");
    evidence_free(&e);
    cr_expect(!read_pass("simd,x,ok,0,0,0,0,9,,0\nsimd,y,ok,0,0,0,0,9,,0\nsimd,x,ok,0,0,0,0,9,,0\n",
                         &e, error) &&
                  strstr(error, ":4: the race simd x stands there twice"),
              "%s", error);
    evidence_free(&e);
}

#define ABOUT(quantity)                                                        \
    "# a comment\nclaim: It is so\nsource: somebody\nquantity: " quantity "\n" \
    "where: simd forward/f32/4x8/normal\n"
#define WHOLE ABOUT("saving") "margin: 2\n"

Test(claims, files) {
    static claim c;
    char error[700] = "";
    cr_assert(read_text(WHOLE "predicate: 7 .. 15\nwhere: naive forward/f32/4x8/normal\n", &c,
                        error),
              "%s", error);
    cr_expect(c.expected.low == 7 && c.expected.high == 15 && c.settings == 2 && c.share == 1);
    cr_expect(strcmp(c.at[1].how, "naive") == 0 && strcmp(c.name, "a claim") == 0);
    cr_assert(read_text(WHOLE "predicate: > -1\nshare: 15\n", &c, error), "%s", error);
    cr_expect(c.expected.low == -1 && isinf(c.expected.high) && c.share == 0.15);
    cr_assert(read_text(WHOLE "predicate: < 3\n", &c, error) && isinf(c.expected.low));
    cr_assert(read_text(WHOLE "predicate: = 4\n", &c, error) && c.expected.low == c.expected.high);
    cr_assert(read_text(WHOLE "paper: T8\n", &c, error), "%s", error);
    cr_expect(c.expected.low > 38 && c.expected.high < 43 && c.share > 0.82 && c.share < 0.83);
    cr_assert(
        read_text(
            ABOUT("saving") "margin: 2\npredicate: > 1\n"
                            "where: unfused,naive forward/f32/5x8/normal  forward/f32/6x8/normal\n",
            &c, error),
        "%s", error);
    static const char *const settings[][2] = {{"simd", "4x8"},
                                              {"unfused", "5x8"},
                                              {"unfused", "6x8"},
                                              {"naive", "5x8"},
                                              {"naive", "6x8"}};
    cr_expect(c.settings == 5);
    for (size_t i = 0; i < 5; i++)
        cr_expect(strcmp(c.at[i].how, settings[i][0]) == 0 && strstr(c.at[i].tail, settings[i][1]),
                  "%zu: %s %s", i, c.at[i].how, c.at[i].tail);
    static const char *const bad[][2] = {
        {WHOLE "where: simd,,naive forward/f32/4x8/normal\n", "'HOW'"},
        {WHOLE "where: simd, forward/f32/4x8/normal\n", "'HOW'"},
        {WHOLE "where: ,simd forward/f32/4x8/normal\n", "'HOW'"},
        {WHOLE "where:\n", "'HOW'"},
        {WHOLE "where: a,b,c,d,e 1 2 3 4 5\n", "24 settings at most"},
        {WHOLE, "predicate"},
        {WHOLE "predicate: 15 .. 7\n", "LOW .. HIGH"},
        {WHOLE "predicate: nan .. 7\n", "LOW .. HIGH"},
        {WHOLE "predicate: about 7\n", "LOW .. HIGH"},
        {WHOLE "predicate: > 7 or so\n", "LOW .. HIGH"},
        {ABOUT("saving") "predicate: > 7\nmargin: -1\n", "at least 0"},
        {ABOUT("saving") "predicate: > 7\nmargin: nan\n", "at least 0"},
        {ABOUT("beauty") "predicate: > 7\n", "--help"},
        {WHOLE "predicate: > 7\npredicate: < 7\n", ":8: 'predicate: < 7' should be given once"},
        {WHOLE "claim: Or so\n", "once"},
        {WHOLE "source: or somebody else\n", "once"},
        {WHOLE "quantity: saving\n", "once"},
        {WHOLE "margin: 3\n", "once"},
        {WHOLE "why: a\nwhy: b\n", "once"},
        {WHOLE "share: 3\nshare: 30\n", "once"},
        {WHOLE "predicate: > 7\npaper: T4\n", "once"},
        {WHOLE "share: 3\npaper: T4\n", "once"},
        {WHOLE "paper: T4\nshare: 3\n", "once"},
        {WHOLE "paper: T4\npredicate: > 7\n", "once"},
        {WHOLE "predicate: > 7\nwhere: fast forward/f32/4x8/normal\n", "mode"},
        {WHOLE "predicate: > 7\nwhere: simd\n", "mode"},
        {WHOLE "predicate: > 7\nnonsense\n", ":8: should be `key: value`"},
        {WHOLE "predicate: > 7\nverdict: SUPPORTED\n", "'verdict: SUPPORTED'"},
        {WHOLE "paper: T99\n", "paper.c"},
        {WHOLE "predicate: > 7\nshare: 120\n", "per cent"},
        {ABOUT("speedup") "margin: 2\npredicate: > 7\nshare: 15\n", "quantity: saving"},
        {ABOUT("traffic") "margin: 2\npaper: T8\n", "quantity: saving"},
        {"claim: x\n", "source"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool ok = read_text(bad[i][0], &c, error);
        cr_expect(!ok && strstr(error, bad[i][1]), "%s: %s", bad[i][0], ok ? "taken" : error);
    }
    cr_expect(!claim_read("/nowhere/x.txt", &c, error, sizeof error) &&
              strstr(error, "cannot read"));
}

/* Every claim in the folder can be measured: its cases are valid for both layers. */
Test(claims, those_there_are) {
    static claim c;
    char error[700];
    glob_t files;
    cr_assert(chdir(NL_SOURCE_DIR) == 0, "cases name their files from there");
    cr_assert(!glob("experiments/claims/*.txt", 0, NULL, &files), "no files");
    cr_expect(files.gl_pathc > 20);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        if (!claim_read(files.gl_pathv[i], &c, error, sizeof error)) cr_assert_fail("%s", error);
        for (size_t k = 0; k < c.settings; k++) {
            const setting *s = &c.at[k];
            const mode *m = mode_find(s->how);
            for (int side = 0; side < 2 && *s->tail; side++) {
                char text[CASE_TEXT];
                nl_case one;
                bool both = strncmp(s->tail, "both/", 5) == 0; /* forward and backward */
                snprintf(text, sizeof text, "%s/%s%s", side ? "rmsnorm" : "layernorm",
                         both ? "backward" : "", s->tail + (both ? 4 : 0));
                if (!case_parse(text, &one, error, sizeof error)) cr_assert_fail("%s", error);
                cr_expect(!m || mode_impl(m, side, &one.problem), "%s: no %s runs %s", c.name,
                          s->how, text);
            }
        }
    }
    globfree(&files);
}

/* A full buffer ends between two characters of UTF-8. */
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
        {"\xa9", "\xa9"}, /* no UTF-8 at all */
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

/* pRMSNorm is right by its own formula and wrong by RMSNorm's, and RMSNorm the other way round. */
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
    cr_assert(race_pair(&by, &a, &b, NULL, &r), "%s", by.why);
    cr_expect(r.rounds > 0 && isfinite(r.ratio.median) && isfinite(r.band));
    b.impl[0] = &bad, r.rounds = 0;
    cr_expect(!race_pair(&by, &a, &b, NULL, &r) && r.rounds == 0);
    cr_expect(strstr(by.why, "rmsnorm/one_pass@c on rmsnorm/forward/f32/4x64/normal"), "%s",
              by.why);
    fixtures_free(&by.all);
}

/* Simulates passes with a true ratio of 0, noise from pass to pass, and three times as much, with a
 * tail, from sitting to sitting. The interval holds 0 only if it includes the level of sittings. */
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
            cr_expect(held[1] >= 0.93 * TRIES, "%zu sittings of %zu: %zu of %d", sittings, passes,
                      held[1], TRIES);
            if (passes > 1)
                cr_expect(held[0] < 0.8 * TRIES, "as one sitting: %zu of %d", held[0], TRIES);
        }
}
