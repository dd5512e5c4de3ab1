/* SPDX-License-Identifier: MIT */
#include "claims/stability.h"
#include "base/random.h"
#include "claims/claim_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 200 };

typedef struct count {
    size_t compared, contradicted;
} count;

/* Marks three passes, by lot. */
static void draw(bool *chosen, size_t passes, uint64_t number) {
    uint32_t words[4];
    memset(chosen, 0, passes * sizeof *chosen);
    for (uint64_t i = 0, left = PASSES_ENOUGH; left; i++) {
        random_words(number, i, words);
        if (!chosen[words[0] % passes]) chosen[words[0] % passes] = true, left--;
    }
}

static bool decided(const claim *c) {
    const claim_answer a = claim_answer_of(c);
    return a == HOLDS || a == FAILS || a == DEPENDS;
}

static bool timed(const claim *c) {
    return c->q->of && !claim_is_elsewhere(&c->at[0]);
}

/* Does an earlier setting need the same race? */
static bool repeats(const claim *claims, size_t i, size_t k) {
    const setting *s = &claims[i].at[k];
    for (size_t a = 0; a <= i; a++)
        for (size_t b = 0; claims[a].q->of && b < (a < i ? claims[a].settings : k); b++)
            if (strcmp(claims[a].at[b].how, s->how) == 0 &&
                strcmp(claims[a].at[b].tail, s->tail) == 0)
                return true;
    return false;
}

/* Standard deviations of a race's log ratio: within a process, from its interval, and between. */
static void spread(const evidence *e, const setting *s, double *within, double *between) {
    double sum = 0, squares = 0, rounds = 0, n = 0;
    for (size_t i = 0; i < e->count; i++) {
        const race_row *r = &e->rows[i];
        if (strcmp(r->how, s->how) || strcmp(r->tail, s->tail) || !r->ok) continue;
        n++, sum += r->ratio, squares += r->ratio * r->ratio;
        rounds += (r->high - r->low) / 2 / 1.96;
    }
    *within = rounds / n;
    *between = sqrt(fmax(0, (squares - sum * sum / n) / (n - 1)));
}

/* The noise of the race of row `first`; its rows are in order of time. */
static noise noise_of_race(const evidence *e, size_t first) {
    noise out = {0, 0, 0};
    double sum = 0, squares = 0, all = 0, all_squares = 0, within = 0;
    size_t n = 0, rows = 0, sittings = 0, last = first;
    for (size_t i = first; i <= e->count; i++) {
        const race_row *r = i < e->count ? &e->rows[i] : NULL, *one = &e->rows[first];
        if (r && (strcmp(r->how, one->how) || strcmp(r->tail, one->tail) || !r->ok)) continue;
        if (n && (!r || r->when - e->rows[last].when > SITTING_S)) { /* a sitting ends */
            const double mean = sum / (double)n;
            within += fmax(0, squares - mean * sum);
            all += mean, all_squares += mean * mean, sittings++;
            sum = squares = 0, n = 0;
        }
        if (!r) break;
        n++, rows++, sum += r->ratio, squares += r->ratio * r->ratio, last = i;
        out.rounds += (r->high - r->low) / 2 / 1.96;
    }
    const double s = (double)sittings;
    out.rounds /= (double)rows;
    out.passes = rows > sittings ? sqrt(within / (double)(rows - sittings)) : NAN;
    out.sittings = sittings > 1 ? sqrt(fmax(0, (all_squares - all * all / s) / (s - 1))) : NAN;
    return out;
}

/* Is it the first row of its race? */
static bool begins(const evidence *e, size_t i) {
    const race_row *r = &e->rows[i];
    for (size_t k = 0; k < i; k++)
        if (e->rows[k].ok && strcmp(e->rows[k].how, r->how) == 0 &&
            strcmp(e->rows[k].tail, r->tail) == 0)
            return false;
    return r->ok;
}

noise noise_of(const evidence *e) {
    noise out = {NAN, NAN, NAN};
    double *v[3], *const at[3] = {&out.rounds, &out.passes, &out.sittings};
    size_t n[3] = {0};
    for (int k = 0; k < 3; k++) v[k] = malloc((e->count + 1) * sizeof **v);
    for (size_t i = 0; v[0] && v[1] && v[2] && i < e->count; i++) {
        if (!begins(e, i)) continue;
        const noise one = noise_of_race(e, i);
        const double its[3] = {one.rounds, one.passes, one.sittings};
        for (int k = 0; k < 3; k++)
            if (!isnan(its[k])) v[k][n[k]++] = its[k];
    }
    for (int k = 0; k < 3; k++) {
        if (n[k]) *at[k] = stats_median(v[k], n[k], 0).median;
        free(v[k]);
    }
    return out;
}

static void compare(const claim *three, const claim *rest, count *races, count *answers) {
    for (size_t k = 0; k < three->settings; k++) {
        const setting *a = &three->at[k], *b = &rest->at[k];
        if (!a->measured || !b->measured || !a->passes) continue;
        races[k].compared++;
        races[k].contradicted +=
            a->f.value.high < b->f.value.low || b->f.value.high < a->f.value.low;
    }
    if (!timed(three) || !decided(three) || !decided(rest)) return;
    answers->compared++;
    answers->contradicted += claim_answer_of(three) != claim_answer_of(rest);
}

static double share(count n) {
    return n.compared ? 100 * (double)n.contradicted / (double)n.compared : 0;
}

bool stability_write(FILE *out, const evidence *e, claim *claims, size_t claim_count,
                     stability *found) {
    const size_t passes = e->passes;
    if (passes < 2 * PASSES_ENOUGH) return false;
    count *races = calloc(claim_count * SETTINGS_MAX + 1, sizeof *races), answers = {0}, all = {0};
    bool *three = calloc(2 * passes, sizeof *three), *rest = three + passes;
    claim *again = calloc(2, sizeof *again);
    const bool ok = races && three && again;
    for (uint64_t d = 0; ok && d < DRAWS; d++) {
        draw(three, passes, d);
        for (size_t i = 0; i < passes; i++) rest[i] = !three[i];
        for (size_t i = 0; i < claim_count; i++) {
            again[0] = again[1] = claims[i];
            evidence_decide(e, three, &again[0]);
            evidence_decide(e, rest, &again[1]);
            compare(&again[0], &again[1], &races[i * SETTINGS_MAX], &answers);
        }
    }
    fprintf(out, "how,case,passes,within_pct,between_pct,contradicted_pct\n");
    for (size_t i = 0; ok && i < claim_count; i++)
        for (size_t k = 0; claims[i].q->of && k < claims[i].settings; k++) {
            const setting *s = &claims[i].at[k];
            const count *n = &races[i * SETTINGS_MAX + k];
            double within, between;
            if (!n->compared || repeats(claims, i, k)) continue;
            spread(e, s, &within, &between);
            fprintf(out, "%s,%s,%zu,%.2f,%.2f,%.1f\n", s->how, s->tail, s->passes, 100 * within,
                    100 * between, share(*n));
            all.compared += n->compared, all.contradicted += n->contradicted;
        }
    *found = (stability){DRAWS, passes - PASSES_ENOUGH, share(all), answers.compared,
                         answers.contradicted};
    free(races), free(three), free(again);
    return ok;
}
