/* Tests the hints below a failure. Each kernel has one planted mistake, whose cause the hint must
 * name. For an unknown mistake it must name none. judge_drawn.py plants the mistakes that
 * `normlab judge` tries; this file plants other causes, and mistakes in every output.
 * SPDX-License-Identifier: MIT */
#include "judge/hint.h"
#include "mutants.h"
#include "trial.h"
#include "cli/report.h"

#include <stdio.h>

TestSuite(hints, .init = one_thread);

#define LN "layernorm/forward/f32/5x37/normal"
#define LN_BACK "layernorm/backward/f32/5x37/normal"
#define RMS "rmsnorm/forward/f32/5x37/normal"
#define RMS_BACK "rmsnorm/backward/f32/5x37/normal"
#define BN "batchnorm/forward/f32/5x7/normal"
#define LN64 "layernorm/forward/f32/9x64/"
#define RMS16 "rmsnorm/forward/f16/"
#define BN_ "batchnorm/forward/f32/"
#define LN_ "layernorm/forward/f32/"
#define LN_BACK_ "layernorm/backward/f32/"

/* cause, where: text that the hint's cause and place must contain. cause NULL: unknown. */
static const struct plant {
    const char *text, *cause, *where;
    wrong w;
} plants[] = {
    {LN "/eps=1e-2", "eps outside the root", NULL, {.eps_outside = true}},
    {LN, "n - 1 instead of n", "right: mean", {.unbiased = true}},
    {LN, "gamma[j + 1] instead of gamma[j]", "right: mean, rstd", {.next_gamma = true}},
    {LN, "x[j + 1] instead of x[j]", NULL, {.next_x = true}},
    {"rmsnorm/forward/f32/1x37/nan", "NaN was lost", NULL, {.y = ZEROS}},
    {RMS, "NaN instead of a number", "right: rstd", {.y = NANS}},
    {LN, "mean and rstd are swapped", "right: y", {.swapped_stats = true}},
    {LN, "beta was not added", NULL, {.no_beta = true}},
    {"batchnorm/inference/f32/5x7x4/normal", "beta was not added", NULL, {.no_beta = true}},
    {RMS, "a gain of 1 + gamma", NULL, {.other_gain = true}},
    {RMS "/residual", "the residual was not added", NULL, {.no_residual = true}},
    {RMS "/residual", "residual_out is x", "right: ", {.x_for_sum = true}},
    {RMS16 "5x37/normal/residual", "x + residual was rounded", NULL, {.rounded_sum = true}},
    {RMS16 "9x64/normal", "cast before the weight", NULL, {.other_cast = true}},
    {LN, "stale: the rstd", "right: mean, rstd", {.last_rstd = true}},
    {LN,
     "every group took mean and rstd of the first",
     "in 148 of 185 elements, from row 1 on",
     {.stale_from = 1}},
    {LN_ "5x36/normal", "GroupNorm of 3 groups", NULL, {.run = 12}},
    {BN_ "5x7x4/normal", "over its channels: LayerNorm", NULL, {.run = 28}},
    {LN, "x[0] was not added", "right: rstd, y", {.unshifted_mean = true}},
    {LN, "its shift was not added", "right: rstd, y", {.saved_correction = true}},
    {LN "/in-place",
     "an input was overwritten",
     NULL,
     {.no_beta = true, .overwritten = NL_BIT(NL_X)}},
    {LN "/in-place", "beta was not added", NULL, {.no_beta = true}},
    {LN, "miss their last element", NULL, {.lost_element = 37}},
    {LN, "miss the tail, from element 32 on", NULL, {.sums_end = 32}},
    {BN, "momentum weighs the old", "right: mean, rstd, y", {.momentum_swapped = true}},
    {BN, "the wrong variance", NULL, {.biased_running = true}},
    {BN, "not updated", NULL, {.old_running = true}},
    {LN, "never written", "from feature 32 on: the tail", {.y = LEAVE_TAIL}},
    {LN, "1 element of y was never written", "row 0 only", {.y = LEAVE_ONE}},
    {RMS, "never written", "row 4 only", {.y = LEAVE_ROW}},
    {RMS, "y is 0: nothing", "in every element", {.y = ZEROS}},
    {RMS16 "9x64/normal/gain=1e-5", "flushed to zero", NULL, {.flushed = 0x1p-14f}},
    {LN64 "offset:4096", "one-pass variance", "right: mean", {.one_pass = true}},
    {BN_ "33x40/offset:1024", "one-pass variance", "right: mean", {.one_pass = true}},
    {LN, "scratch was used before it was set", NULL, {.unset_scratch = true}},
    {LN, "other numbers", NULL, {.unsteady = true}},
    {LN_BACK, "the term mean(g) was left out", "right: dgamma, dbeta", {.more_means = -1}},
    {RMS_BACK "/residual", "dresidual was not added", NULL, {.no_dresidual = true}},
    {LN_BACK, "dgamma sums dy * x", "right: dx, dbeta", {.x_in_dgamma = true}},
    {LN_BACK_ "64x37/normal/threads=3",
     "rows 0 to 21 only, one thread's share",
     NULL,
     {.one_threads_dgamma = true}},
    {LN_BACK, "the old values of dgamma were added to", NULL, {.adds_dgamma = true}},
    {LN_BACK, "dbeta is 0: nothing", "dbeta is wrong in every element", {.no_dbeta = true}},
    {LN_BACK_ "5x36/normal", "miss the tail, from element 32 on", NULL, {.sums_end = 32}},
    {LN,
     "of f32 terms, added one after another in 16 bits (f16)",
     "y is wrong",
     {.half_sums = true}},
    {LN, "never written", "one feature in 16 from feature 7 on: one lane", {.y = LEAVE_LANE}},
    {LN_ "63x37/normal/threads=3",
     "never written",
     "rows 21 to 41: the share of thread 2 of 3",
     {.y = LEAVE_SHARE}},
    {LN,
     "only there: beta was not added",
     "from feature 32 on: the tail",
     {.no_beta = true, .feature = 32}},
    /* not a known mistake */
    {LN_BACK, NULL, "right: dgamma, dbeta", {.no_gamma = true, .feature = 32}},
    {RMS "/no-gamma", NULL, "from feature 36 on: the tail", {.last_feature_off = true}},
    {RMS, NULL, "row 0 only", {.first_row_off = true}},
    {LN, NULL, "y is wrong", {.noise = true}},
    {LN64 "offset:64", NULL, "y is wrong", {.noise = true}},
    {LN, NULL, "right: mean", {.var_off = 0.01f}},
    {RMS, NULL, "rstd is wrong in every element; right: y", {.rstd_off = 1e-3f}},
};

Test(hints, name_the_cause) {
    size_t named = 0, unknown = 0;
    for (const struct plant *k = plants; k < plants + sizeof plants / sizeof *plants; k++) {
        trial t;
        hint h;
        trial_make(&t, k->text);
        nl_impl kernel = mutant_kernel(NL_TWO_PASS, k->w);
        const int threads = t.c.threads ? t.c.threads : 1;
        const verdict v = verify(&t.c, &t.data, &t.want, &kernel, PLACE_END, threads);
        cr_assert(hint_make(&t.c, &t.data, &t.want, &kernel, threads, &h), "%s", k->text);
        const bool right =
                       h.known == (k->cause != NULL) && (!k->cause || strstr(h.cause, k->cause)),
                   there = !k->where || strstr(h.where, k->where);
        cr_expect(v.outcome == OUTCOME_FAIL && right && there && !strstr(h.cause, "; or "),
                  "%s: expected '%s' '%s', got '%s'\n  %s\n  %s: %s", k->text, k->cause, k->where,
                  h.cause, h.where, h.number, outcome_name(v.outcome));
        fprintf(stderr, "%s: %s\n  %s: %s\n", k->text, h.cause, h.where, h.number);
        named += h.known, unknown += !h.known;
        trial_end(&t);
    }
    fprintf(stderr, "%zu named, %zu unknown\n", named, unknown);
}

/* A rung promises more than it does: two passes with a rounded mean are not "refined". */
Test(hints, name_the_method) {
    trial t;
    hint h;
    trial_make(&t, "layernorm/forward/f32/33x40/offset:262144/eps=1e-12");
    const nl_impl two_pass = mutant_kernel(NL_TWO_PASS, (wrong){0});
    nl_impl kernel = two_pass;
    kernel.method = NL_REFINED;
    cr_assert(hint_make(&t.c, &t.data, &t.want, &kernel, 1, &h));
    cr_expect(strstr(h.cause, "the mean rounded to a float"), "%s: %s", h.where, h.cause);
    cr_assert(hint_make(&t.c, &t.data, &t.want, &two_pass, 1, &h));
    cr_expect(!h.known && !*h.where, "%s: %s", h.where, h.cause);
    trial_end(&t);
}

/* Only the last two of many rows are wrong. The search begins with these rows, and computes no more
 * numbers than allowed. */
Test(hints, stay_within_bounds) {
    static mechanism m;
    trial t;
    expectations e;
    region beyond;
    trial_make(&t, "rmsnorm/forward/f32/16390x5/normal");
    const nl_problem *p = &t.c.problem;
    const size_t count = p->n * p->c;
    const nl_impl kernel = mutant_kernel(NL_TWO_PASS, (wrong){0});
    const instance shell = {.c = &t.c, .data = &t.data, .impl = &kernel};
    double *y = malloc(count * sizeof *y);
    cr_assert(y && expectations_make(&shell, &t.want.want, &e));
    for (size_t i = 0; i < count; i++)
        y[i] = (double)expected_at(&e, NL_Y, i).want * (i < count - 2 * p->c ? 1 : -1);
    subject s = subject_of(p, &t.want, &e);
    s.got[NL_Y] = y, s.most = 9 * count;
    cr_assert(region_make(&s, NL_Y, &beyond) && beyond.wrong == 2 * p->c);
    cr_assert(mechanism_find(&s, &beyond, &m));
    cr_expect(m.likely == 1 && strcmp(m.found[0].name, "negated") == 0, "%zu, %s", m.likely,
              m.found[0].name);
    s.most = 1;
    cr_assert(mechanism_find(&s, &beyond, &m));
    cr_expect(!m.likely && m.untried > 0, "%zu, %zu", m.likely, m.untried);
    region_free(&beyond), expectations_free(&e), free(y);
    trial_end(&t);
}

/* The text that is printed below the failures so far; the caller frees it. */
static char *printed(const nl_case *shown) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    hints_print(to, shown, NULL, NULL);
    fclose(to);
    return text;
}

/* The hint is for the smallest ordinary failure with a cause. If no number was compared, there is
 * no hint. */
Test(hints, choose_the_case_that_teaches) {
    static const char *const cases[] = {"layernorm/forward/f32/1x1/normal",
                                        "layernorm/forward/f16/3x37/normal",
                                        "layernorm/forward/f32/3x37/normal/residual",
                                        "layernorm/forward/f32/3x37/normal",
                                        "layernorm/forward/f32/3x37/zeros",
                                        "layernorm/forward/f32/300x370/normal",
                                        "layernorm/forward/f32/3x38/normal"};
    const nl_impl kernel = mutant_kernel(NL_TWO_PASS, (wrong){.no_beta = true});
    nl_case c;
    row w = {.c = &c, .v = {.outcome = OUTCOME_FAIL}};
    for (int compared = 0; compared < 2; compared++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            cr_assert(case_parse(cases[i], &c, (char[700]){0}, 700));
            w.v.compared = (size_t)compared;
            hints_note(&kernel, &w, 1);
        }
        char *text = printed(NULL);
        cr_assert(compared || !*text, "without numbers: %s", text);
        cr_assert(!compared ||
                      (strstr(text, "HINT mutant@c on layernorm/forward/f32/3x37/normal\n") &&
                       strstr(text, "y[0][0] is ") &&
                       strstr(text, "cause: likely: beta was not added\n")),
                  "%s", text);
        free(text);
    }
}

Test(hints, none_for_a_huge_case) {
    const nl_impl kernel = mutant_kernel(NL_TWO_PASS, (wrong){.no_beta = true});
    nl_case c;
    const row w = {.c = &c, .v = {.outcome = OUTCOME_FAIL, .compared = 1}};
    cr_assert(case_parse(LN_ "65536x1024/normal", &c, (char[700]){0}, 700));
    hints_note(&kernel, &w, 1);
    char *text = printed(NULL);
    cr_expect(strstr(text, "HINT none, because "), "%s", text);
    free(text);
}

/* Two cases fail, and the second is shown. The hint must contain the expected text. */
static void expect_hint(wrong w, const char *one, const char *shown, const char *expected) {
    const nl_impl kernel = mutant_kernel(NL_TWO_PASS, w);
    const char *const texts[] = {one, shown};
    nl_case c;
    row failure = {.c = &c, .v = {.outcome = OUTCOME_FAIL, .compared = 1}};
    for (int i = 0; i < 2; i++) {
        cr_assert(case_parse(texts[i], &c, (char[700]){0}, 700));
        hints_note(&kernel, &failure, 1);
    }
    char *text = printed(&c);
    cr_expect(strstr(text, expected), "%s: %s", expected, text);
    free(text);
}

/* A cause must also explain the other failures, such as those in rows of more than one number. */
Test(hints, agree_with_other_failures) {
    const wrong eps = {.eps = 1e-12f}, two = {.no_beta = true, .next_x = true};
    const char *far = LN_ "3x37/scale:1e-5/eps=0.01";
    expect_hint(eps, LN_ "3x37/normal/eps=0.01", far, "cause: likely: eps = 1e-12\n");
    expect_hint(eps, LN_ "3x37/normal/eps=0.01", far, "scale:1e-5/eps=0.01\n");
    expect_hint(two, LN_ "3x37/normal", LN_ "3x1/normal", "cause: unknown");
}
