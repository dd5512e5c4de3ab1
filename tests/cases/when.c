/* Tests the search for what failing cases share: it finds planted conditions, and none by chance.
 * SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "support.h"

static case_list cases;
static unsigned char *states;

static void load(void) {
    char error[700];
    cr_assert(suite_cases(&cases, SUITE_FOR_ALL, 0, error, sizeof error), "%s", error);
    states = calloc(cases.count, 1);
}

TestSuite(when, .init = load);

static bool long_rows(const nl_case *c) {
    return c->problem.c >= 1025 && c->problem.dtype == NL_F32;
}

static bool residual(const nl_case *c) {
    return c->problem.op == NL_RMSNORM && strstr(c->text, "/residual/");
}

static bool tails(const nl_case *c) {
    return c->problem.pass == NL_BACKWARD && c->problem.dtype == NL_BF16 && c->problem.c % 4;
}

static bool huge_gain(const nl_case *c) {
    return strstr(c->text, "/gamma=scale:") != NULL;
}

static bool in_parts(const nl_case *c) {
    return c->threads > 8;
}

Test(when, planted_conditions_are_found) {
    static const struct {
        bool (*fails)(const nl_case *c);
        const char *words[3]; /* in any order */
    } planted[] = {{long_rows, {"f32", "c >= 1025"}},
                   {residual, {"rmsnorm", "residual"}},
                   {tails, {"backward", "bf16", "c not a multiple of 4"}},
                   {huge_gain, {"gamma=scale:..."}},
                   {in_parts, {"threads >= 9"}}};
    char text[400];
    for (size_t k = 0; k < sizeof planted / sizeof *planted; k++) {
        for (size_t i = 0; i < cases.count; i++)
            states[i] = planted[k].fails(&cases.items[i]) ? CASE_FAILED : CASE_RIGHT;
        when_text(cases.items, states, cases.count, text, sizeof text);
        for (int w = 0; w < 3 && planted[k].words[w]; w++)
            cr_expect(strstr(text, planted[k].words[w]), "no '%s' in: %s", planted[k].words[w],
                      text);
    }
}

Test(when, chance_is_not) {
    char text[400];
    for (uint64_t seed = 0; seed < 60; seed++) {
        const double share = seed % 3 ? 0.001 : 0.3;
        for (size_t i = 0; i < cases.count; i++)
            states[i] = random_uniform(500 + seed, i) < share ? CASE_FAILED : CASE_RIGHT;
        when_text(cases.items, states, cases.count, text, sizeof text);
        cr_expect(!*text, "seed %d: %s", (int)seed, text);
    }
    memset(states, CASE_FAILED, cases.count);
    when_text(cases.items, states, cases.count, text, sizeof text);
    cr_expect(!*text, "all fail: %s", text);
    memset(states, CASE_NOT_RUN, cases.count);
    when_text(cases.items, states, cases.count, text, sizeof text);
    cr_expect(!*text, "none was run: %s", text);
}
