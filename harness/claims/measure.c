/* SPDX-License-Identifier: MIT */
#include "claims/measure.h"
#include "base/interrupt.h"
#include "timing/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_large(const setting *s) {
    nl_case c;
    char text[CASE_TEXT], error[700];
    const char *slash = strchr(s->tail, '/');
    if (!slash) return false;
    snprintf(text, sizeof text, "layernorm/forward%s", slash);
    return case_parse(text, &c, error, sizeof error) && c.problem.n * c.problem.c > QUICK_MAX;
}

/* Sorts settings of one case together, so that its data are generated once. */
static int by_tail(const void *a, const void *b) {
    const setting *x = *(setting *const *)a, *y = *(setting *const *)b;
    int order = strcmp(x->tail, y->tail);
    return order ? order : x < y ? -1 : x > y;
}

typedef struct plan {
    setting **order; /* the settings to measure */
    size_t total;
} plan;

static bool make_plan(claims_job *j, plan *p) {
    p->order = calloc(j->count * SETTINGS_MAX + 1, sizeof *p->order);
    if (!p->order) return false;
    for (size_t i = 0; i < j->count; i++)
        for (size_t k = 0; k < j->claims[i].settings; k++) {
            setting *s = &j->claims[i].at[k];
            if (claim_is_elsewhere(s)) {
                j->settings_measured += s->measured;
                continue;
            }
            if (j->quick && is_large(s))
                snprintf(s->why, sizeof s->why, "left out by --quick");
            else
                p->order[p->total++] = s;
        }
    qsort(p->order, p->total, sizeof *p->order, by_tail);
    return true;
}

static const claim *owner_of(const claims_job *j, const setting *s) {
    size_t i = 0;
    while (s < j->claims[i].at || s >= j->claims[i].at + SETTINGS_MAX) i++;
    return &j->claims[i];
}

/* A race that several claims share is run once. */
typedef struct run {
    const setting *s;
    race_result r;
} run;

static void measure_one(claims_job *j, fixtures *all, setting *s, run *runs, size_t *ran) {
    const claim *c = owner_of(j, s);
    size_t i = 0;
    question q = {all, s->how, s->tail, j->seconds, s->why, sizeof s->why};
    if (c->q->of) {
        if (is_large(s)) q.seconds *= 4; /* calls are longer, and memory is noisier */
        while (i < *ran &&
               (strcmp(runs[i].s->how, s->how) != 0 || strcmp(runs[i].s->tail, s->tail) != 0))
            i++;
        s->measured = i < *ran || race_mode(all, mode_find(s->how), s->tail, q.seconds, &runs[i].r,
                                            s->why, sizeof s->why);
        if (s->measured && i == *ran) runs[(*ran)++].s = s;
        if (s->measured) {
            s->f = c->q->of(c->share, runs[i].r.ratio, runs[i].r.band);
            s->f.rounds = runs[i].r.rounds;
        }
    } else {
        s->measured = c->q->get(&q, &s->f);
    }
    if (s->measured)
        s->verdict = claim_decide(s->f.wide, c->expected, c->q->same, c->margin);
    else
        j->failed(c, s);
    j->settings_failed += !s->measured;
    j->settings_measured += s->measured;
}

bool claims_measure(claims_job *j) {
    static fixtures all;
    plan p = {0};
    run *runs = make_plan(j, &p) ? calloc(p.total + 1, sizeof *runs) : NULL;
    size_t ran = 0;
    for (size_t i = 0; runs && i < p.total && !interrupted(); i++) {
        char what[300];
        snprintf(what, sizeof what, "%s %s", p.order[i]->how, p.order[i]->tail);
        j->progress(i, p.total, what);
        measure_one(j, &all, p.order[i], runs, &ran);
    }
    j->progress(1, 1, "");
    fixtures_free(&all);
    free(p.order);
    free(runs);
    return runs != NULL;
}
