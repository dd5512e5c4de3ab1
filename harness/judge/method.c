/* SPDX-License-Identifier: MIT */
#include "dtype.h"
#include "judge/hint.h"
#include "judge/judge.h"
#include "layer.h"
#include "verify/expected.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 33,
    FEATURES_OF_ROW = 40,
    POWERS = 11,
    MOST = ROWS > FEATURES_OF_ROW ? ROWS : FEATURES_OF_ROW
};

/* Of each group so far: kappa, its error, and what an offset and a factor leave of the error. */
typedef struct errors {
    double kappa[POWERS * MOST], error[POWERS * MOST], rest[POWERS * MOST];
    size_t count;
    pattern pattern; /* the pattern of the last case */
} errors;

/* Above this error nothing is left of the variance, and the error grows no more. */
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

static void take(void *context, const instance *in) {
    sample *out = context;
    const nl_problem *p = &in->c->problem;
    size_t numbers = 0;
    for (nl_arg o = 0; o < NL_ARGS; o++) numbers += expected_has(in, o) ? expected_count(p, o) : 0;
    double *next = out->memory = malloc(out->bytes = (numbers + 1) * sizeof *next);
    if (!next) return;
    next[numbers] = 0;
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        if (!expected_has(in, o)) continue;
        out->of[o] = next;
        const nl_dtype t = data_type(p, o);
        for (size_t i = 0; i < expected_count(p, o); i++)
            *next++ = nl_load(t, in->at[o], nl_place(nl_places_of(p, o), i));
    }
}

/* Adds the implementation's errors on one case to e, unless the call fails. */
static void measure(const nl_impl *impl, const nl_case *c, errors *e) {
    nl_data data;
    answer want;
    expectations expectations;
    sample call = {0};
    score scored = {0};
    if (!nl_accepts(impl, &c->problem) || !data_make(c, &data, (char[700]){0}, 700)) return;
    const bool made = answer_make(c, &data, &want);
    const instance shell = {.c = c, .data = &data, .impl = impl};
    if (made && expectations_make(&shell, &want.want, &expectations)) {
        subject s = subject_of(&c->problem, &want, &expectations);
        examine(c, &data, impl, (examination){1, 0xff, 0xff}, take, &call);
        s.got[NL_Y] = call.of[NL_Y];
        if (s.got[NL_Y] && score_make(&s, &scored)) add(e, &s, &scored);
        free(scored.kappa), free(call.memory), expectations_free(&expectations);
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

bool samples_take(const instance *of, int threads, sample out[SAMPLES]) {
    const unsigned char nan = 0xff;
    const examination how[SAMPLES] =
        {[FIRST] = {threads, nan, nan},    [AGAIN] = {threads, nan, nan},
         [OVER_ZEROS] = {threads, 0, nan}, [ZERO_SCRATCH] = {threads, nan, 0},
         [ONE_THREAD] = {1, nan, nan},     [APART] = {threads, nan, nan}};
    nl_case apart = *of->c;
    apart.in_place = 0;
    for (int k = 0; k < SAMPLES; k++) {
        if (k == APART && !of->c->in_place) continue;
        examine(k == APART ? &apart : of->c, of->data, of->impl, how[k], take, &out[k]);
        if (k == FIRST && !out[k].memory) return false;
    }
    return true;
}

void samples_free(sample of[SAMPLES]) {
    for (int k = 0; k < SAMPLES; k++) free(of[k].memory);
}

bool sample_same(const sample *a, const sample *b) {
    return !a->memory || !b->memory || memcmp(a->memory, b->memory, a->bytes) == 0;
}
