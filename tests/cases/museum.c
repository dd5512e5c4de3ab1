/* Tests the museum's data, and messages about it. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "cases/museum.h"
#include "trial.h"

#include <stdio.h>

static char error[800];

/* Makes the next case of the museum. False: there are no more cases. */
static bool next(trial *t, size_t *i) {
    static case_list list;
    if (*i)
        trial_end(t);
    else
        cr_assert(cases_add(&list, "museum", error, sizeof error), "%s", error);
    cr_assert(list.count > museum_count());
    if (*i == list.count) return cases_free(&list), false;
    trial_make(t, list.items[(*i)++].text);
    return true;
}

static double value(const trial *t, size_t g, size_t e) {
    const nl_problem *p = &t->c.problem;
    return nl_load(p->dtype, t->data.input[NL_X], element(p, g, e));
}

/* FNV-1a over the floats of x in all cases is the same on every machine. */
Test(museum, the_values_are_the_same_everywhere) {
    uint64_t hash = 0xcbf29ce484222325;
    trial t;
    for (size_t i = 0; next(&t, &i);) {
        const nl_problem *p = &t.c.problem;
        for (size_t k = 0; k < p->n * p->c * p->s; k++) {
            float x = nl_load(p->dtype, t.data.input[NL_X], k);
            uint32_t bits;
            memcpy(&bits, &x, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3;
        }
    }
    cr_assert(hash == 0x1be7b364249fbe3a, "the hash of all values is %#llx",
              (unsigned long long)hash);
}

/* All layers normalize the same groups: a row of a row norm is a channel of BatchNorm. */
Test(museum, rows_are_channels) {
    size_t compared = 0;
    for (size_t i = 0; i < museum_count(); i++) {
        char text[CASE_TEXT];
        trial a, b;
        snprintf(text, sizeof text, "layernorm/forward/f32/6x9/museum:%s", museum_at(i)->name);
        trial_make(&a, text);
        snprintf(text, sizeof text, "batchnorm/forward/f32/3x6x3/museum:%s", museum_at(i)->name);
        trial_make(&b, text);
        for (size_t g = 0; g < 6; g++)
            for (size_t e = 0; e < 9; e++, compared++)
                if (value(&a, g, e) != value(&b, g, e))
                    cr_assert_fail("%s: element %zu of group %zu differs", text, e, g);
        trial_end(&a), trial_end(&b);
    }
    cr_assert(compared > 0);
}

Test(museum, a_row_of_one_value_has_no_gradient) {
    static const char *const dtypes[] = {"f32", "bf16"};
    for (size_t d = 0; d < 2; d++) {
        char text[CASE_TEXT];
        trial t;
        snprintf(text, sizeof text, "layernorm/backward/%s/3x1/museum:pt188372", dtypes[d]);
        trial_make(&t, text), trial_place(&t, nl_best(&t.c.problem, 1)), trial_call(&t, 1);
        for (size_t i = 0; i < 3; i++)
            cr_assert(nl_load(t.c.problem.dtype, t.in.at[NL_DX], i) == 0, "%s: dx is not 0", text);
        cr_assert(*(float *)t.in.at[NL_DGAMMA] == 0, "%s: dgamma is not 0", text);
        trial_end(&t);
    }
}

Test(museum, an_unknown_name_brings_the_list) {
    nl_case c;
    const char *const wrong[] = {"museum:nothing", "museum:", "museum", "museum:pt51102x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "layernorm/forward/f32/2x2/%s", wrong[i]);
        cr_assert(!case_parse(text, &c, error, sizeof error), "%s was taken", text);
        cr_assert(strstr(error, wrong[i]) && strstr(error, "museum:NAME"), "%s", error);
        for (size_t k = 0; k < museum_count(); k++)
            cr_assert(strstr(error, museum_at(k)->name), "'%s' lacks %s", error,
                      museum_at(k)->name);
    }
}
