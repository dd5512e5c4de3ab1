/* Tests the answers to claims and the sentences that give them. SPDX-License-Identifier: MIT */
#include "claims/claim.h"
#include "support.h"

#include <stdio.h>

/* A claim about a quantity, with the intervals of its settings. NaN: not measured. */
static claim *claim_with(const char *quantity, predicate expected, double margin, size_t count,
                         const estimate *found) {
    static const char *const hows[] = {"simd", "unfused", "unfused_rms", "pytorch"};
    static claim c;
    c = (claim){.q = quantity_find(quantity),
                .expected = expected,
                .margin = margin,
                .share = 1,
                .settings = count};
    for (size_t i = 0; i < count; i++) {
        setting *s = &c.at[i];
        strcpy(s->how, hows[i]);
        strcpy(s->why, "left out by --quick");
        s->measured = !isnan(found[i].low);
        s->f = (figure){found[i], found[i], 0, 10};
        s->verdict = s->measured ? claim_decide(found[i], expected, c.q->same, margin) : UNRESOLVED;
    }
    return &c;
}

static const char *sentence_of(const claim *c) {
    static char text[CLAIM_WORDS + 20];
    size_t used =
        (size_t)snprintf(text, sizeof text, "%s: ", claim_answer_name(claim_answer_of(c)));
    claim_sentence(c, text + used, sizeof text - used);
    return text;
}

#define MISSING \
    { NAN, NAN, NAN }
static const predicate to_fifteen = {7, 15}, slower = {-INFINITY, -10}, equal = {0, 0};

/* Tests the outcome of a claim with one setting that has this interval. */
Test(answers, outcomes) {
    const struct {
        predicate expected;
        estimate found;
        claim_outcome outcome;
    } table[] = {
        {to_fifteen, {10, 7, 15}, AS_CLAIMED}, /* both bounds touched */
        {to_fifteen, {10, 6.99, 15}, OPEN},
        {to_fifteen, {10, 7, 15.01}, OPEN},
        {to_fifteen, {27, 26, 28}, MORE},
        {to_fifteen, {15, 15, 16}, OPEN},
        {to_fifteen, {16, 15.01, 17}, MORE},
        {to_fifteen, {5, 3, 6.99}, LESS},
        {to_fifteen, {1, -2, 2}, NO_DIFFERENCE}, /* the margin touched */
        {to_fifteen, {1, -2, 2.01}, LESS},
        {to_fifteen, {-20, -22, -18}, OTHER_WAY},
        {to_fifteen, {NAN, 3, 6}, OPEN},
        {to_fifteen, {10, 9, INFINITY}, OPEN},
        {to_fifteen, MISSING, NOT_RUN},
        {slower, {-900, -950, -850}, AS_CLAIMED},
        {slower, {-5, -6, -4}, LESS}, /* 5 % slower is less than 10 % slower */
        {slower, {1, 0, 2}, NO_DIFFERENCE},
        {slower, {27, 26, 28}, OTHER_WAY},
        {{-INFINITY, 0}, {27, 26, 28}, OTHER_WAY},
        {{-INFINITY, 200}, {200, 200, 200}, MORE}, /* 200 is not below 200 */
        {equal, {1, -2, 2}, AS_CLAIMED},
        {equal, {1, -2, 3}, OPEN},
        {equal, {10, 8, 12}, MORE},
        {equal, {-10, -12, -8}, MORE},             /* 10 % slower is more than no difference */
        {{-INFINITY, 200}, {1, 0, 2}, AS_CLAIMED}, /* no difference is less than 200 */
    };
    int seen = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const claim *c = claim_with("saving", table[i].expected, 2, 1, &table[i].found);
        claim_outcome got = claim_outcome_of(c, &c->at[0]);
        seen |= 1 << got;
        cr_expect(got == table[i].outcome, "row %zu: %s, should be %s", i, claim_outcome_name(got),
                  claim_outcome_name(table[i].outcome));
    }
    cr_expect(seen == (1 << CLAIM_OUTCOMES) - 1, "not every outcome was reached");
    /* No count means "no difference", so the answer to a claim about counts is never OTHER_WAY. */
    const claim *c = claim_with("scans", (predicate){2, 2}, 0, 1, &(estimate){1, 1, 1});
    cr_expect(claim_outcome_of(c, &c->at[0]) == LESS);
}

/* Settings disagree if they are on different sides of the claim, not if their distances differ. */
Test(answers, of_several_settings) {
    const struct {
        estimate found[3];
        claim_answer answer;
    } table[] = {
        {{{10, 9, 11}, {12, 11, 13}, {8, 7, 9}}, HOLDS},
        {{{10, 9, 11}, {27, 26, 28}, {8, 7, 9}}, DEPENDS},
        {{{27, 26, 28}, {1, 0, 2}, {45, 44, 46}}, DEPENDS},
        {{{27, 26, 28}, {30, 29, 31}, {45, 44, 46}}, FAILS},
        {{{1, 0, 2}, {5, 4, 6}, {-20, -22, -18}}, FAILS},  /* all below, by different amounts */
        {{{10, 9, 11}, {14, 12, 16}, MISSING}, UNDECIDED}, /* the open setting may contradict */
        {{{10, 9, 11}, MISSING, MISSING}, HOLDS},
        {{{14, 12, 16}, {10, 9, 11}, {10, 9, 11}}, UNDECIDED},
        {{{14, 12, 16}, {10, 9, 11}, {27, 26, 28}}, DEPENDS},
        {{MISSING, {10, 9, 11}, {10, 9, 11}}, UNTRIED},  /* the claim's own setting is missing */
        {{MISSING, {10, 9, 11}, {27, 26, 28}}, DEPENDS}, /* the other settings disagree */
        {{MISSING, MISSING, MISSING}, UNTRIED},
        {{{NAN, 1, 2}, MISSING, MISSING}, UNDECIDED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        claim_answer got = claim_answer_of(claim_with("saving", to_fifteen, 2, 3, table[i].found));
        cr_expect(got == table[i].answer, "row %zu: %s, should be %s", i, claim_answer_name(got),
                  claim_answer_name(table[i].answer));
    }
}

/* Sentences give ratios and differences in words. */
Test(answers, sentences) {
    const struct {
        const char *quantity;
        predicate expected;
        estimate found[4];
        const char *says;
    } table[] = {
        {"saving", slower, {{-901, -910, -890}}, "HOLDS: RMSNorm takes 10 times as long (SIMD)."},
        {"saving", slower, {{-12, -13, -11}}, "HOLDS: RMSNorm takes 12 % longer (SIMD)."},
        {"saving",
         to_fifteen,
         {{27.3, 27, 28}},
         "FAILS: The effect is larger than claimed: RMSNorm saves 27.3 % (SIMD)."},
        {"saving", to_fifteen, {{1, 0, 2}}, "FAILS: There is no difference: SIMD."},
        {"saving", to_fifteen, {MISSING}, "NOT RUN: SIMD: left out by --quick."},
        {"saving",
         to_fifteen,
         {{27.3, 27, 28}, {45, 44, 46}, {-500, -550, -450}, {1, 0, 2}},
         "DEPENDS: The effect is larger than claimed: RMSNorm saves 27.3 % (SIMD) to 45 % "
         "(unfused). "
         "In other settings the result is the other way round: RMSNorm takes 6 times as long "
         "(RMSNorm unfused, LayerNorm in SIMD). In other settings there is no difference: "
         "PyTorch."},
        {"saving",
         to_fifteen,
         {{14, 12, 16}, {10, 9, 11}, MISSING, MISSING},
         "NOT RESOLVED: RMSNorm saves 14 % (SIMD); its interval with the A/A band, 12 to 16 % "
         "saved, contains 15. A verdict needs 4 times the --seconds. In other settings the result "
         "is as claimed: RMSNorm saves 10 % (unfused). 2 other settings were not run."},
        {"saving",
         to_fifteen,
         {{15, 13, 17}},
         "NOT RESOLVED: RMSNorm saves 15 % (SIMD); its interval with the A/A band, 13 to 17 % "
         "saved, contains 15. The figure is too near to 15 for a verdict."},
        {"saving",
         to_fifteen,
         {{10, 6, INFINITY}},
         "NOT RESOLVED: RMSNorm saves 10 % (SIMD); there is no interval: measure again, with more "
         "--seconds."},
        {"speedup",
         {1.1, 1.15},
         {{0.5, 0.4, 0.6}},
         "FAILS: The result is the other way round: RMSNorm takes 2 times as long (SIMD)."},
        {"speedup",
         {1.1, 1.15},
         {{1.38, 1.37, 1.39}, {1.5, 1.49, 1.51}},
         "FAILS: The effect is larger than claimed: RMSNorm is 1.38 (SIMD) to 1.5 times as fast "
         "(unfused)."},
        {"speedup",
         {1.1, 1.15},
         {{0.8, 0.79, 0.81}},
         "FAILS: The result is the other way round: RMSNorm takes 25 % longer (SIMD)."},
        {"saving",
         slower,
         {{-1070, -1080, -1060}, {-347, -350, -340}},
         "HOLDS: RMSNorm takes 4.47 (unfused) to 11.7 times as long (SIMD)."},
        {"saving",
         to_fifteen,
         {{1, 0, 2}, {5, 4, 6}},
         "FAILS: There is no difference: SIMD. In other settings the effect is smaller than "
         "claimed: "
         "RMSNorm saves 5 % (unfused)."},
        /* The interval's end towards the nearest verdict decides, even if the interval's other end
         * is nearer to a bound of the claim. */
        {"saving",
         slower,
         {{1, -12, 20}},
         "NOT RESOLVED: RMSNorm saves 1 % (SIMD); its interval with the A/A band, -12 to 20 % "
         "saved, contains -10. A verdict needs 2 times the --seconds."},
        {"saving",
         to_fifteen,
         {{14, 2, 15.1}},
         "NOT RESOLVED: RMSNorm saves 14 % (SIMD); its interval with the A/A band, 2 to 15.1 % "
         "saved, contains 7. A verdict needs 3 times the --seconds."},
        {"traffic",
         {45, 55},
         {{-250, -250, -250}},
         "FAILS: The result is the other way round: RMSNorm moves 3.5 times the bytes (SIMD)."},
        {"error_ratio",
         {2, INFINITY},
         {{NAN, 1, 2}, {3, 3, 3}},
         "NOT RESOLVED: SIMD: its result is not a number. In other settings the result is as "
         "claimed: LayerNorm's largest error is 3 times RMSNorm's (unfused)."},
        {"root_error",
         {-INFINITY, 2},
         {{4334, 4334, 4334}},
         "FAILS: The effect is larger than claimed: it is off by 4334 units (SIMD)."},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t count = 0;
        while (count < 4 && (table[i].found[count].high != 0 || table[i].found[count].low != 0))
            count++;
        double margin = strcmp(table[i].quantity, "saving") == 0 ? 2 : 0.02;
        const char *got = sentence_of(
            claim_with(table[i].quantity, table[i].expected, margin, count, table[i].found));
        cr_expect(strcmp(got, table[i].says) == 0, "row %zu: %s", i, got);
    }
}

/* More time does not reduce the noise of the machine. */
Test(answers, what_noise_takes) {
    claim *c = claim_with("saving", to_fifteen, 2, 1, &(estimate){14, 11, 17});
    c->at[0].f.value = (estimate){14, 13, 15}, c->at[0].f.band = 2;
    cr_expect(
        strstr(sentence_of(c), "A verdict needs a quieter machine: the A/A band alone is +-2."));
    c->at[0].f.wide = (estimate){14, 12.5, 15.5}, c->at[0].f.band = 0.5;
    cr_expect(strstr(sentence_of(c), "A verdict needs 4 times the --seconds."), "%s",
              sentence_of(c));
}

Test(answers, share_of_a_step) {
    claim *c = claim_with("saving", to_fifteen, 2, 1, &(estimate){9, 8, 10});
    c->share = 0.4;
    cr_expect(strstr(sentence_of(c), "RMSNorm saves 9 % of the step (SIMD)"), "%s", sentence_of(c));
    c = claim_with("saving", slower, 2, 1, &(estimate){-150, -151, -149});
    c->share = 0.4;
    cr_expect(strstr(sentence_of(c), "A step with RMSNorm takes 2.5 times as long (SIMD)"), "%s",
              sentence_of(c));
    c->q = quantity_find("rival_saving");
    cr_expect(strstr(sentence_of(c), "A step takes 2.5 times as long"), "%s", sentence_of(c));
}

/* Sentences with the longest names are not cut, whatever the outcome. */
Test(answers, long_sentences_are_whole) {
    const estimate found[] = {{10, 9, 11}, {27, 26, 28}, {5, 4, 6}, {-20, -22, -18},
                              {1, 0, 2},   {14, 12, 16}, MISSING};
    claim *c = claim_with("saving", to_fifteen, 2, 0, found);
    c->settings = SETTINGS_MAX;
    for (size_t i = 0; i < SETTINGS_MAX; i++) {
        setting *s = &c->at[i];
        const estimate e = found[i % 7];
        memset(s->how, 'm', sizeof s->how - 1);
        snprintf(s->tail, sizeof s->tail, "both/bf16/64x1024/offset:%0150d/residual", 16);
        s->measured = !isnan(e.low), s->f = (figure){e, e, 0, 10};
        s->f.value.median += 0.01 * (double)i;
        s->verdict = s->measured ? claim_decide(e, to_fifteen, 0, 2) : UNRESOLVED;
    }
    char text[CLAIM_WORDS];
    claim_sentence(c, text, sizeof text);
    cr_expect(strlen(text) > 2000 && strstr(text, "00016 sigma off") &&
                  strstr(text, " settings were ") && text[strlen(text) - 1] == '.',
              "%s", text);
}

Test(answers, where) {
    claim *c = claim_with("saving", to_fifteen, 2, 1, &(estimate){9, 8, 10});
    char text[200], small[6];
    strcpy(c->at[0].tail, "both/bf16/4x8/offset:16/residual");
    claim_caches("L1 48K (cpus 0), L2 2048K (cpus 0)");
    claim_where(c, &c->at[0], text, sizeof text);
    cr_expect(strcmp(text, "SIMD, 4 x 8 in L1, forward and backward, bf16, mean 16 sigma off, "
                           "residual") == 0,
              "%s", text);
    claim_caches("");
    claim_where(c, &c->at[0], small, sizeof small);
    cr_expect(strcmp(small, "SIMD,") == 0, "cut, and ended: %s", small);
    c->q = quantity_find("scans");
    strcpy(c->at[0].how, "-");
    strcpy(c->at[0].tail, "forward/f32/64x1024/normal");
    claim_where(c, &c->at[0], text, sizeof text);
    cr_expect(strcmp(text, "64 x 1024") == 0, "%s", text);
    claim_sentence(c, small, sizeof small);
    cr_expect(strlen(small) == 5, "cut, and ended: %s", small);
}
