/* SPDX-License-Identifier: MIT */
#include "claims/evidence.h"
#include "base/interrupt.h"
#include "base/random.h"

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

/* A race to run; several claims may share it. */
typedef struct entry {
    const claim *c;
    const setting *s;
    uint32_t lot; /* random, but equal for races of one case, whose data are then generated once */
} entry;

static int by_lot(const void *a, const void *b) {
    const entry *x = a, *y = b;
    const int order = strcmp(x->s->tail, y->s->tail);
    if (x->lot != y->lot) return x->lot < y->lot ? -1 : 1;
    return order ? order : x->s < y->s ? -1 : x->s > y->s;
}

/* A random number from seed and text, equal on every machine. */
static uint32_t lot_of(uint64_t seed, const char *text) {
    uint32_t words[4];
    uint64_t hash = 1469598103934665603u; /* FNV-1a */
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    random_words(seed, hash, words);
    return words[0];
}

static entry *make_plan(claims_job *j, size_t *total) {
    entry *all = calloc(j->count * SETTINGS_MAX + 1, sizeof *all);
    *total = 0;
    for (size_t i = 0; all && i < j->count; i++)
        for (size_t k = 0; j->claims[i].q->of && k < j->claims[i].settings; k++) {
            setting *s = &j->claims[i].at[k];
            size_t same = 0;
            if (claim_is_elsewhere(s)) continue;
            if (j->quick && is_large(s)) continue;
            while (same < *total && !setting_same_race(all[same].s, s)) same++;
            if (same == *total)
                all[(*total)++] = (entry){&j->claims[i], s, lot_of(j->seed, s->tail)};
        }
    if (all) qsort(all, *total, sizeof *all, by_lot);
    return all;
}

static bool race_one(claims_job *j, race *by, const entry *e) {
    race_row row = {.pass = j->evidence.passes};
    race_result r = {0};
    question q = {by, e->s->how, e->s->tail, {NULL}};
    snprintf(row.how, sizeof row.how, "%s", e->s->how);
    snprintf(row.tail, sizeof row.tail, "%s", e->s->tail);
    by->seconds =
        j->seconds * (is_large(e->s) ? 4 : 1); /* large cases: longer calls, noisier memory */
    row.ok = e->c->q->race(&q, &r);
    if (!row.ok) snprintf(row.why, sizeof row.why, "%.299s", by->why);
    row.ratio = r.ratio.median, row.low = r.ratio.low, row.high = r.ratio.high;
    row.aa = r.aa, row.band = r.band, row.rounds = r.rounds;
    return evidence_add(&j->evidence, &row);
}

bool claims_race(claims_job *j) {
    race by = {.seed = j->seed + 1};
    size_t total;
    entry *plan = make_plan(j, &total);
    bool ok = plan != NULL;
    for (size_t i = 0; ok && i < total && !interrupted(); i++) {
        char what[300];
        snprintf(what, sizeof what, "%s %s", plan[i].s->how, plan[i].s->tail);
        j->progress(i, total, what);
        ok = race_one(j, &by, &plan[i]);
    }
    j->evidence.passes++;
    j->progress(1, 1, "");
    fixtures_free(&by.all);
    free(plan);
    return ok;
}

static void compute(race *by, const claim *c, setting *s) {
    question q = {by, s->how, s->tail, {NULL}};
    s->measured = quantity_compute(c->q, &q, &s->f);
    if (s->measured)
        s->verdict = claim_decide(s->f.wide, c->expected, c->q->same, c->margin);
    else
        snprintf(s->why, sizeof s->why, "%.399s", by->why);
}

void claims_decide(claims_job *j) {
    race by = {.seed = j->seed + 1};
    for (size_t i = 0; i < j->count; i++) {
        claim *c = &j->claims[i];
        evidence_decide(&j->evidence, NULL, c);
        for (size_t k = 0; k < c->settings && (c->q->of || !interrupted()); k++) {
            setting *s = &c->at[k];
            const bool left_out = j->quick && is_large(s) && !claim_is_elsewhere(s);
            if (left_out)
                s->measured = false, snprintf(s->why, sizeof s->why, "left out by --quick");
            else if (!c->q->of)
                compute(&by, c, s);
            else if (!s->measured && !*s->why)
                snprintf(s->why, sizeof s->why, "not measured: %s",
                         claim_is_elsewhere(s)
                             ? "run python -m normlab.frameworks, then use --measured"
                             : "no pass here has timed it");
            const bool missing = left_out || (c->q->of && claim_lacks(s->why));
            j->settings_measured += s->measured;
            if (s->measured || missing) continue;
            j->settings_failed += !claim_is_elsewhere(s);
            if (!claim_is_elsewhere(s)) j->failed(c, s);
        }
    }
    fixtures_free(&by.all);
}
