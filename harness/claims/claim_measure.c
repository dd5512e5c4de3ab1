/* SPDX-License-Identifier: MIT */
#include "claims/evidence.h"
#include "base/clock.h"
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
    bool large;
    race_result visit[VISITS];
    size_t visits, planned;
    char why[300]; /* "": it has not failed */
} entry;

static int by_lot(const void *a, const void *b) {
    const entry *x = a, *y = b;
    const int order = strcmp(x->s->tail, y->s->tail);
    if (x->lot != y->lot) return x->lot < y->lot ? -1 : 1;
    return order ? order : x->s < y->s ? -1 : x->s > y->s;
}

/* A random number from seed, visit and text, equal on every machine. */
static uint32_t lot_of(uint64_t seed, size_t visit, const char *text) {
    uint32_t words[4];
    uint64_t hash = 1469598103934665603u + visit; /* FNV-1a */
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
                all[(*total)++] = (entry){.c = &j->claims[i],
                                          .s = s,
                                          .large = is_large(s),
                                          .planned = is_large(s) || j->quick ? 1 : VISITS};
        }
    return all;
}

/* A large case has one long visit: memory limits its calls, and the memory of a shared machine is
 * never quiet. A visit that takes the time planned for all visits ends the race, but not before the
 * second visit. */
static void visit_race(claims_job *j, race *by, entry *e) {
    const double begin = clock_ns();
    race_result r = {0};
    question q = {by, e->s->how, e->s->tail, {NULL}};
    by->seconds = (e->large ? 4 : 1) * j->seconds / (double)e->planned;
    const bool ok = e->c->q->race(&q, &r);
    if (interrupted() && e->visits) return; /* a cut visit would spoil the earlier ones */
    if (!ok) snprintf(e->why, sizeof e->why, "%.299s", by->why);
    e->visit[e->visits++] = r;
    if (!ok)
        e->planned = e->visits;
    else if (e->planned == VISITS && clock_ns() - begin > 3e9 * j->seconds) /* 3 candidates */
        e->planned = e->visits < 2 ? 2 : e->visits;
}

static bool add_race(claims_job *j, const entry *e) {
    race_row row = {0};
    if (!e->visits) return true;
    if (!*e->why) row = race_row_of(e->visit, e->visits);
    row.pass = j->evidence.passes;
    snprintf(row.how, sizeof row.how, "%s", e->s->how);
    snprintf(row.tail, sizeof row.tail, "%s", e->s->tail);
    snprintf(row.why, sizeof row.why, "%s", e->why);
    return evidence_add(&j->evidence, &row);
}

/* The time of this number of visits, as a multiple of a visit to a case that is not large. Serves
 * to estimate the remaining time. */
static size_t weight(const entry *e, size_t visits) {
    return visits * (e->large ? 4 * VISITS : 1);
}

bool claims_race(claims_job *j) {
    race by = {.seed = j->seed};
    size_t total, done = 0, all = 0;
    entry *plan = make_plan(j, &total);
    bool ok = plan != NULL;
    for (size_t i = 0; ok && i < total; i++) all += weight(&plan[i], plan[i].planned);
    for (size_t v = 0; ok && v < VISITS; v++) {
        for (size_t i = 0; i < total; i++) plan[i].lot = lot_of(j->seed, v, plan[i].s->tail);
        qsort(plan, total, sizeof *plan, by_lot);
        by.seed++;
        for (size_t i = 0; i < total && !interrupted(); i++) {
            entry *e = &plan[i];
            char what[300];
            if (e->visits == e->planned) continue;
            snprintf(what, sizeof what, "%s %s", e->s->how, e->s->tail);
            j->progress(done, all, what);
            all -= weight(e, e->planned);
            visit_race(j, &by, e);
            done += weight(e, 1), all += weight(e, e->planned);
        }
    }
    for (size_t i = 0; ok && i < total; i++) ok = add_race(j, &plan[i]);
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
