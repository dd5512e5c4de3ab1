/* SPDX-License-Identifier: MIT */
#include "claims/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The mean of the logarithms of both candidates' times in the quiet rounds. */
static double time_of(const race_result *v) {
    return v->quiet.log_time + v->quiet.log_ratio / 2;
}

race_row race_row_of(const race_result *visits, size_t count) {
    race_row row = {.ok = true, .visits = count, .rounds = visits->rounds};
    row.ratio = visits->ratio.median, row.aa = visits->aa, row.band = visits->band;
    row.low = visits->ratio.low, row.high = visits->ratio.high;
    if (count == 1) return row;
    double least = INFINITY, v[VISITS] = {0}, aa[VISITS] = {0}, squares = 0;
    size_t used = 0;
    row.rounds = 0, row.band = 0, row.low = INFINITY, row.high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        row.rounds += visits[i].rounds;
        least = fmin(least, time_of(&visits[i]));
    }
    for (size_t i = 0; i < count; i++) {
        const race_result *r = &visits[i];
        if (!(time_of(r) <= least + log(QUIET_WITHIN))) continue;
        row.low = fmin(row.low, fmin(r->ratio.low, r->quiet.log_ratio));
        row.high = fmax(row.high, fmax(r->ratio.high, r->quiet.log_ratio));
        row.band = fmax(row.band, fmax(r->band, fabs(r->quiet_aa)));
        v[used] = r->quiet.log_ratio, aa[used++] = r->quiet_aa;
    }
    row.ratio = stats_mean(v, used, &squares), row.aa = stats_mean(aa, used, &squares);
    if (used < PASSES_ENOUGH) return row;
    const estimate student = stats_middle(v, used);
    row.low = fmin(student.low, row.ratio), row.high = fmax(student.high, row.ratio);
    return row;
}

bool evidence_add(evidence *e, const race_row *row) {
    race_row *more = realloc(e->rows, (e->count + 1) * sizeof *more);
    if (!more) return false;
    e->rows = more;
    e->rows[e->count++] = *row;
    return true;
}

void evidence_free(evidence *e) {
    free(e->rows);
    *e = (evidence){0};
}

bool evidence_apart(const race_row *earlier, const race_row *later) {
    return later->when - earlier->when > SITTING_S;
}

/* The figure from one or two processes; its interval contains the intervals over rounds. */
static void look(const race_row *const *rows, size_t n, estimate *ratio, double *band) {
    *ratio = (estimate){0, INFINITY, -INFINITY};
    *band = 0;
    for (size_t i = 0; i < n; i++) {
        ratio->median += rows[i]->ratio / (double)n;
        ratio->low = fmin(ratio->low, rows[i]->low), ratio->high = fmax(ratio->high, rows[i]->high);
        *band = fmax(*band, rows[i]->band);
    }
}

/* Replaces the values of each sitting by their median, if there are enough sittings. Returns the
 * new count. */
static size_t sit(const race_row *const *rows, double *v, size_t n) {
    double middle[PASSES_MAX], one[PASSES_MAX];
    size_t sittings = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        one[size++] = v[i];
        if (i + 1 < n && !evidence_apart(rows[i], rows[i + 1])) continue;
        middle[sittings++] = stats_median(one, size, 0.95).median, size = 0;
    }
    if (sittings < PASSES_ENOUGH) return n;
    memcpy(v, middle, sittings * sizeof *v);
    return sittings;
}

/* The figure from PASSES_ENOUGH or more passes, given in order of time. Its interval comes from the
 * sittings, or from the passes if there are few sittings. The band is the size of the figure that
 * the first candidate gives against itself. */
static void pool(const race_row *const *rows, size_t n, estimate *ratio, double *band) {
    double v[2][PASSES_MAX], all[PASSES_MAX];
    *band = 0;
    for (size_t i = 0; i < n; i++) {
        v[0][i] = all[i] = rows[i]->ratio, v[1][i] = rows[i]->aa;
        if (isnan(rows[i]->aa)) *band = fmax(*band, rows[i]->band);
    }
    *ratio = stats_middle(v[0], sit(rows, v[0], n));
    ratio->median = stats_median(all, n, 0.95).median;
    ratio->low = fmin(ratio->low, ratio->median), ratio->high = fmax(ratio->high, ratio->median);
    if (*band == 0) *band = fabs(stats_middle(v[1], sit(rows, v[1], n)).median);
}

size_t evidence_rows(const evidence *e, const bool *uses, const char *how, const char *tail,
                     const race_row *rows[PASSES_MAX]) {
    size_t n = 0;
    for (const race_row *r = e->rows; r < e->rows + e->count; r++) {
        if ((uses && !uses[r->pass]) || strcmp(r->how, how) != 0 || strcmp(r->tail, tail) != 0)
            continue;
        if (n == PASSES_MAX) memmove(rows, rows + 1, --n * sizeof *rows);
        rows[n++] = r;
    }
    return n;
}

/* Keeps only rows that average several visits, if there are enough such rows: a row from one visit
 * suffers more from other work on the core. Returns the number of rows that are left. */
static size_t keep_visited(const race_row **rows, size_t n) {
    size_t visited = 0, kept = 0;
    for (size_t i = 0; i < n; i++) visited += rows[i]->visits > 1;
    for (size_t i = 0; i < n; i++)
        if (visited < PASSES_ENOUGH || rows[i]->visits > 1) rows[kept++] = rows[i];
    return kept;
}

static void name_pass(const race_row *r, char *why, size_t size) {
    const time_t when = (time_t)r->when;
    const size_t n = strlen(why);
    if (when) strftime(why + n, size - n, " (in the pass of %Y-%m-%dT%H:%M:%SZ)", gmtime(&when));
}

static void decide(const evidence *e, const bool *uses, const claim *c, setting *s) {
    const race_row *rows[PASSES_MAX];
    const size_t all = evidence_rows(e, uses, s->how, s->tail, rows);
    size_t n = 0, rounds = 0;
    estimate ratio;
    double band;
    s->measured = false;
    for (size_t i = 0; i < all; i++) {
        if (!rows[i]->ok) snprintf(s->why, sizeof s->why, "%s", rows[i]->why);
        if (!rows[i]->ok && !claim_lacks(s->why)) {
            name_pass(rows[i], s->why, sizeof s->why);
            return;
        }
        if (rows[i]->ok) rows[n++] = rows[i];
    }
    if (n == 0) return;
    n = keep_visited(rows, n);
    (n < PASSES_ENOUGH ? look : pool)(rows, n, &ratio, &band);
    for (size_t i = 0; i < n; i++) rounds += rows[i]->rounds;
    s->f = c->q->of(c->share, ratio, band);
    s->f.rounds = rounds;
    s->passes = n;
    s->measured = true;
    s->verdict = claim_decide(s->f.wide, c->expected, c->q->same, c->margin);
}

void evidence_decide(const evidence *e, const bool *uses, claim *c) {
    for (size_t i = 0; c->q->of && i < c->settings; i++) decide(e, uses, c, &c->at[i]);
}
