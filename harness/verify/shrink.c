/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define SECONDS_MOST 2.0

enum { OPTIONS_MOST = 24 };

/* The parts of a case's spelling. */
typedef struct parts {
    nl_op op;
    nl_pass pass;
    nl_dtype dtype;
    size_t size[3]; /* n, c, s */
    char data[256], options[CASE_TEXT];
} parts;

typedef struct search {
    nl_case *c;
    verdict *v;
    const nl_impl *impl;
    int threads;
    double end; /* when the search must end */
} search;

static parts take_apart(const nl_case *c) {
    const nl_problem *p = &c->problem;
    parts out = {p->op, p->pass, p->dtype, {p->n, p->c, p->s}, "", ""};
    strcpy(out.data, c->data);
    strcpy(out.options, c->text + c->options);
    return out;
}

/* Is it the same failure? Compares the first word of `why` without its index: "y" or "wrote". */
static bool alike(const verdict *a, const verdict *b) {
    const size_t length = strcspn(a->why, "[ ");
    return !a->compared == !b->compared && strncmp(a->why, b->why, length) == 0;
}

/* If the kernel fails on the case of these parts too, keeps that case. */
static bool fails(search *s, const parts *p) {
    char text[CASE_TEXT + 400], error[700];
    nl_case c;
    nl_data data;
    answer want;
    verdict v = {.outcome = OUTCOME_SKIP};
    int n = snprintf(text, sizeof text, "%s/%s/%s/%zux%zu", nl_op_name(p->op),
                     nl_pass_name(p->pass), nl_dtype_name(p->dtype), p->size[0], p->size[1]);
    if (p->size[2] > 1) n += snprintf(text + n, sizeof text - (size_t)n, "x%zu", p->size[2]);
    snprintf(text + n, sizeof text - (size_t)n, "/%s%s%s", p->data, *p->options ? "/" : "",
             p->options);
    if (clock_ns() > s->end || strcmp(text, s->c->text) == 0) return false;
    if (!case_parse(text, &c, error, sizeof error) || !nl_accepts(s->impl, &c.problem) ||
        !data_make(&c, &data, error, sizeof error))
        return false;
    if (answer_make(&c, &data, &want)) {
        const int threads = c.threads ? c.threads : s->threads;
        for (placement at = PLACE_END; at <= PLACE_START && v.outcome != OUTCOME_FAIL; at++)
            v = verify(&c, &data, &want, s->impl, at, threads);
        answer_free(&want);
    }
    data_free(&data);
    if (v.outcome != OUTCOME_FAIL || !alike(s->v, &v)) return false;
    return *s->c = c, *s->v = v, true;
}

static bool smaller_sizes(search *s) {
    static const size_t few[] = {1, 2, 3, 5};
    bool found = false;
    for (int axis = 0; axis < 3; axis++) {
        parts p = take_apart(s->c);
        const size_t now = p.size[axis];
        bool here = false;
        for (size_t k = 0; k < sizeof few / sizeof *few && few[k] < now && !here; k++)
            p.size[axis] = few[k], here = fails(s, &p);
        for (size_t step = now / 2; step && !here; step /= 2)
            p.size[axis] = now - step, here = p.size[axis] > 0 && fails(s, &p);
        found |= here;
    }
    return found;
}

static bool fewer_options(search *s) {
    bool found = false;
    for (size_t skip = 0; skip < OPTIONS_MOST; skip++) {
        parts p = take_apart(s->c);
        char *option = p.options;
        for (size_t k = 0; k < skip && *option; k++) {
            option += strcspn(option, "/");
            option += *option == '/';
        }
        if (!*option) break;
        char *rest = option + strcspn(option, "/");
        if (*rest)
            memmove(option, rest + 1, strlen(rest));
        else
            option[option > p.options ? -1 : 0] = '\0';
        if (fails(s, &p)) found = true, skip--;
    }
    return found;
}

static bool plainer(search *s) {
    parts p = take_apart(s->c);
    strcpy(p.data, "normal");
    bool found = fails(s, &p);
    p = take_apart(s->c), p.dtype = NL_F32;
    return fails(s, &p) || found;
}

bool shrink(nl_case *c, verdict *v, const nl_impl *impl, int threads) {
    search s = {c, v, impl, threads, clock_ns() + 1e9 * SECONDS_MOST};
    bool found = false;
    if (strncmp(v->why, "has not returned", 16) == 0) return false;
    for (bool again = true; again; found |= again) {
        again = fewer_options(&s);
        again |= plainer(&s);
        again |= smaller_sizes(&s);
    }
    return found;
}
