/* Tests good and bad files of claims and of passes, and the files of experiments/claims.
 * SPDX-License-Identifier: MIT */
#include "claims/evidence.h"
#include "timing/race.h"
#include "folder.h"
#include "support.h"

#include <glob.h>

static void begin(void) {
    enter_folder("a claim.txt");
}

TestSuite(claim_files, .init = begin, .fini = leave_folder);

static bool read_text(const char *text, claim *c, char *error) {
    spill(path, text, strlen(text));
    return claim_read(path, c, error, 700);
}

#define ABOUT(quantity)                                                        \
    "# a comment\nclaim: It is so\nsource: somebody\nquantity: " quantity "\n" \
    "where: simd forward/f32/4x8/normal\n"
#define WHOLE ABOUT("saving") "margin: 2\n"

Test(claim_files, good_ones) {
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
}

Test(claim_files, bad_ones) {
    static claim c;
    char error[700];
    static const char *const bad[][2] = {
        {WHOLE "where: simd,,naive forward/f32/4x8/normal\n", "'HOW'"},
        {WHOLE "where: simd, forward/f32/4x8/normal\n", "'HOW'"},
        {WHOLE "where: ,simd forward/f32/4x8/normal\n", "'HOW'"},
        {WHOLE "where:\n", "'HOW'"},
        {WHOLE "where: a,b,c,d,e 1 2 3 4 5\n", "at most 24 settings"},
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
Test(claim_files, those_there_are) {
    static claim c;
    char error[700];
    glob_t files;
    cr_assert(chdir(NL_SOURCE_DIR) == 0, "paths in cases are relative to it");
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

static bool read_pass(const char *rows, evidence *e, char *error) {
    char text[500];
    snprintf(text, sizeof text,
             "how,case,verdict,log_ratio,log_low,log_high,aa_band,rounds,why,log_aa%s\n%s",
             strstr(rows, "visited") ? ",visits" : "", rows);
    spill(path, text, strlen(text));
    *e = (evidence){0};
    return evidence_read(e, path, error, 700);
}

/* A damaged pass is refused, because an infinite ratio would give an interval without width. */
Test(claim_files, passes_that_are_damaged) {
    static const char *const bad[] = {"ok,inf,inf,inf,0.1,12,,0",   "ok,nan,nan,nan,0.1,12,,0",
                                      "ok,-0.1,0,0,0.1,12,,0",      "ok,-0.1,-inf,0,0.1,12,,0",
                                      "ok,-0.1,-0.2,inf,0.1,12,,0", "ok,-0.1,-1e9,0,0.1,12,,0",
                                      "ok,-0.1,-0.2,0,inf,12,,0",   "ok,-0.1,-0.2,0,-1,12,,0",
                                      "ok,-0.1,-0.2,0,0.1,12,,inf", "ok,-0.1,-0.2,0,0.1,12,,-0.11",
                                      "ok,-0.1x,-0.2,0,0.1,12,,0",  "ok, -0.1,-0.2,0,0.1,12,,0",
                                      "ok,-0.1,-0.2 0,0,0.1,12,,0", "ok,-0.1,-0.2,0,0.1,0,,0",
                                      "ok,-0.1,-0.2,0,0.1,1.5,,0",  "ok,-0.1,-0.2,0,0.1,1e30,,0",
                                      "ok,-0.1,-0.2,0,0.1,,,0",     "OK,-0.1,-0.2,0,0.1,12,,0"};
    char error[700], row[100];
    evidence e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(row, sizeof row, "simd,forward/f32/4x8/normal,%s\n", bad[i]);
        cr_expect(!read_pass(row, &e, error) &&
                      strstr(error, ":2: the verdict or a number is invalid"),
                  "%s: %s", bad[i], error);
        evidence_free(&e);
    }
    for (size_t i = 0; i < 4; i++) {
        static const char *const visits[] = {"0", "-1", "1.5", "5"};
        snprintf(row, sizeof row, "visited,x,ok,-0.1,-0.2,0,0.1,12,,0,%s\n", visits[i]);
        cr_expect(!read_pass(row, &e, error) && strstr(error, "the verdict or a number is invalid"),
                  "%s", visits[i]);
        evidence_free(&e);
    }
    cr_expect(!read_pass("simd,x,ok,-0.1,-0.2,0,0.1,12,,0", &e, error) &&
                  strstr(error, ":2: the last line is cut off"),
              "%s", error);
    evidence_free(&e);
    cr_assert(read_pass("simd,x,ok,-0.1,-0.2,0,0.1,12,,\n", &e, error), "%s", error);
    cr_expect(e.rows->ok && isnan(e.rows->aa), "no log_aa: the A/A band replaces it");
    evidence_free(&e);
    cr_expect(!read_pass("simd,x,ok,0,0,0,0,9,,0\nsimd,y,ok,0,0,0,0,9,,0\nsimd,x,ok,0,0,0,0,9,,0\n",
                         &e, error) &&
                  strstr(error, ":4: the race simd x is in the file twice"),
              "%s", error);
    evidence_free(&e);
}

/* Reading a pass gives back the rows that were written. */
Test(claim_files, passes_are_read_as_written) {
    const race_row rows[] = {{"simd", "x", "", true, -0.1, -0.2, 0, 0.01, 0.1, 12, 4, 0, 0},
                             {"simd", "y", "", true, -0.1, -0.2, 0, 0.01, 0.1, 12, 1, 0, 0},
                             {.how = "simd", .tail = "z", .why = "wrong, there"}};
    char error[700];
    evidence e = {0};
    FILE *out = fopen(path, "w");
    cr_assert(out);
    evidence_heading(out);
    for (size_t i = 0; i < 3; i++) evidence_write(out, &rows[i]);
    cr_assert(fclose(out) == 0 && evidence_read(&e, path, error, sizeof error), "%s", error);
    cr_assert(e.count == 3 && e.rows[0].visits == 4 && e.rows[1].visits == 1);
    cr_expect(e.rows[0].ratio == -0.1 && e.rows[1].aa == 0.01 && e.rows[1].rounds == 12);
    cr_expect(!e.rows[2].ok && strcmp(e.rows[2].why, "fail: wrong, there") == 0);
    evidence_free(&e);
}
