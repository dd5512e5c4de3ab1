/* SPDX-License-Identifier: MIT */
#include "claims/elsewhere.h"
#include "base/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOW, CASE, VERDICT, RATIO, LOW, HIGH, BAND, ROUNDS, WHY, COLUMNS };
static const char *const columns[COLUMNS] = {"how",       "case",    "verdict",
                                             "log_ratio", "log_low", "log_high",
                                             "aa_band",   "rounds",  "why"};

static bool find_columns(const scan *s, size_t at[COLUMNS]) {
    for (size_t k = 0; k < COLUMNS; k++) {
        for (at[k] = 0; at[k] < s->count && strcmp(s->fields[at[k]], columns[k]) != 0;) at[k]++;
        if (at[k] == s->count) return scan_error(s, 1, "the column %s is missing", columns[k]);
    }
    return true;
}

static void fill(claim *c, setting *at, char *const field[COLUMNS]) {
    double v[COLUMNS];
    for (int k = RATIO; k <= ROUNDS; k++) v[k] = *field[k] ? strtod(field[k], NULL) : NAN;
    at->measured = strcmp(field[VERDICT], "ok") == 0 && v[LOW] <= v[RATIO] && v[RATIO] <= v[HIGH] &&
                   v[BAND] >= 0 && v[ROUNDS] >= 1;
    if (!at->measured) {
        if (snprintf(at->why, sizeof at->why, "%s: %s", field[VERDICT], field[WHY]) >=
            (int)sizeof at->why)
            text_end_whole(at->why);
        return;
    }
    at->f = c->q->of(c->share, (estimate){v[RATIO], v[LOW], v[HIGH]}, v[BAND]);
    at->f.rounds = (size_t)v[ROUNDS];
    at->verdict = claim_decide(at->f.wide, c->expected, c->q->same, c->margin);
}

static void fill_all(claim *claims, size_t count, char *const field[COLUMNS]) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < claims[i].settings; k++) {
            setting *at = &claims[i].at[k];
            if (claim_is_elsewhere(at) && strcmp(at->how, field[HOW]) == 0 &&
                strcmp(at->tail, field[CASE]) == 0)
                fill(&claims[i], at, field);
        }
}

bool elsewhere_read(const char *path, claim *claims, size_t count, char *error, size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size};
    size_t at[COLUMNS], named;
    char *text = NULL, *field[COLUMNS];
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < claims[i].settings; k++)
            if (claim_is_elsewhere(&claims[i].at[k]))
                snprintf(claims[i].at[k].why, sizeof claims[i].at[k].why,
                         "not measured: python -m normlab.frameworks, then --measured");
    if (!path) return true;
    bool ok = scan_file(&s, &text) && scan_record(&s) && find_columns(&s, at);
    for (named = s.count; ok && s.at < s.end;) {
        ok = scan_record(&s) &&
             (s.count == named ||
              scan_error(&s, s.first_line, "has %zu fields, not %zu", s.count, named));
        for (size_t k = 0; ok && k < COLUMNS; k++) field[k] = s.fields[at[k]];
        if (ok) fill_all(claims, count, field);
    }
    free(s.fields);
    free(text);
    return ok;
}
