/* SPDX-License-Identifier: MIT */
#include "claims/evidence.h"
#include "base/random.h"
#include "claims/claim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 200 };

typedef struct count {
    size_t compared, contradicted;
} count;

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
    for (size_t a = 0; a <= i; a++)
        for (size_t b = 0; claims[a].q->of && b < (a < i ? claims[a].settings : k); b++)
            if (setting_same_race(&claims[a].at[b], &claims[i].at[k])) return true;
    return false;
}

static noise noise_of_race(const race_row *const *rows, size_t n) {
    double v[PASSES_MAX], middle[PASSES_MAX] = {0}, within = 0, between = 0, all = 0, rounds = 0;
    size_t sittings = 0, begin = 0;
    for (size_t i = 0; i < n; i++) {
        v[i] = rows[i]->ratio, rounds += (rows[i]->high - rows[i]->low) / 2 / 1.96;
        if (i + 1 < n && !evidence_apart(rows[i], rows[i + 1])) continue;
        middle[sittings++] = stats_mean(v + begin, i + 1 - begin, &within);
        begin = i + 1;
    }
    stats_mean(middle, sittings, &between), stats_mean(v, n, &all);
    return (noise){.rounds = rounds / (double)n,
                   .passes = n > sittings ? sqrt(within / (double)(n - sittings)) : NAN,
                   .sittings = sittings > 1 ? sqrt(between / (double)(sittings - 1)) : NAN,
                   .all = sqrt(all / (double)(n - 1))};
}

/* Lists the successful rows of a race and returns their number. */
static size_t right_rows(const evidence *e, const char *how, const char *tail,
                         const race_row *rows[PASSES_MAX]) {
    const size_t n = evidence_rows(e, NULL, how, tail, rows);
    size_t right = 0;
    for (size_t k = 0; k < n; k++)
        if (rows[k]->ok) rows[right++] = rows[k];
    return right;
}

noise noise_of(const evidence *e) {
    const race_row *rows[PASSES_MAX];
    noise out = {NAN, NAN, NAN, NAN};
    double *v[3], *const at[3] = {&out.rounds, &out.passes, &out.sittings};
    size_t n[3] = {0}, passes;
    for (int k = 0; k < 3; k++) v[k] = malloc((e->count + 1) * sizeof **v);
    for (size_t i = 0; v[0] && v[1] && v[2] && i < e->count; i++) {
        passes = right_rows(e, e->rows[i].how, e->rows[i].tail, rows);
        if (!passes || rows[0] != &e->rows[i]) continue; /* each race once, at its first row */
        const noise one = noise_of_race(rows, passes);
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
            const race_row *rows[PASSES_MAX];
            if (!n->compared || repeats(claims, i, k)) continue;
            const noise its = noise_of_race(rows, right_rows(e, s->how, s->tail, rows));
            fprintf(out, "%s,%s,%zu,%.2f,%.2f,%.1f\n", s->how, s->tail, s->passes, 100 * its.rounds,
                    100 * its.all, share(*n));
            all.compared += n->compared, all.contradicted += n->contradicted;
        }
    *found = (stability){DRAWS, passes - PASSES_ENOUGH, share(all), answers.compared,
                         answers.contradicted};
    free(races), free(three), free(again);
    return ok;
}
