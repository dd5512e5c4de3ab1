/* SPDX-License-Identifier: MIT */
#include "judge/hint.h"
#include "judge/score.h"
#include "layer.h"
#include "verify/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROWS = 33,
    FEATURES_OF_ROW = 40,
    POWERS = 11,
    MOST = ROWS > FEATURES_OF_ROW ? ROWS : FEATURES_OF_ROW
};

/* The errors of the groups of all cases so far, by kappa. */
typedef struct errors {
    double kappa[POWERS * MOST], error[POWERS * MOST], rest[POWERS * MOST];
    size_t count;
    pattern pattern; /* of the last case */
} errors;

/* Above this nothing is left of the variance, and the error grows no more. */
#define LOST_UNITS 1e5

static void add(errors *e, const subject *s, score *c) {
    const pattern p = growth_pattern(s, c->group_rest);
    for (size_t g = 0; g < c->groups; g++) {
        const bool lost = !(c->group_rms[g] < LOST_UNITS);
        e->kappa[e->count] = c->kappa[g], e->error[e->count] = lost ? INFINITY : c->group_rms[g];
        e->rest[e->count++] = lost ? INFINITY : c->group_rest[g];
    }
    if (p.groups == c->groups) e->pattern = p;
}

/* Calls the implementation on one case; adds nothing if that fails. */
static void measure(const nl_impl *impl, const nl_case *c, errors *e) {
    nl_data data;
    answer want;
    expectations expectations;
    sample calls[SAMPLES] = {0};
    score scored = {0};
    if (!nl_accepts(impl, &c->problem) || !data_make(c, &data, (char[700]){0}, 700)) return;
    const bool made = answer_make(c, &data, &want);
    const instance shell = {.c = c, .data = &data, .impl = impl};
    if (made && expectations_make(&shell, &want.want, &expectations)) {
        subject s = {.p = &c->problem,
                     .in = &want.in,
                     .want = &want.want,
                     .expectations = &expectations};
        if (samples_take(&shell, 1, calls)) {
            s.got[NL_Y] = calls[FIRST].of[NL_Y];
            if (score_make(&s, &scored)) add(e, &s, &scored);
        }
        free(scored.kappa), samples_free(calls), expectations_free(&expectations);
    }
    if (made) answer_free(&want);
    data_free(&data);
}

const char *method_found(const nl_impl *impl, nl_op op) {
    const bool firm = impl->method == NL_SHIFTED || impl->method == NL_REFINED;
    errors *e = calloc(1, sizeof *e);
    subject s = {.p = &(nl_problem){.op = op, .n = ROWS, .c = FEATURES_OF_ROW, .s = 1}};
    for (int k = 0; e && k < POWERS; k++) {
        char text[CASE_TEXT];
        nl_case c;
        snprintf(text, sizeof text, "%s/forward/f32/%dx%d/offset:%ld/eps=1e-12", nl_op_name(op),
                 ROWS, FEATURES_OF_ROW, 1L << 2 * k);
        if (case_parse(text, &c, (char[700]){0}, 700)) measure(impl, &c, e);
    }
    const char *found = NULL;
    if (e && e->count) {
        const growth all = growth_fit(e->kappa, e->error, e->count),
                     rest = growth_fit(e->kappa, e->rest, e->count);
        found = growth_mechanism(&s, &all, &rest, &e->pattern);
        const bool square = all.decides && all.slope >= 1.5;
        if (square ? impl->method == NL_ONE_PASS : !firm) found = NULL;
    }
    free(e);
    return found;
}
