/* SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "claims/evidence.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOW, CASE, VERDICT, RATIO, LOW, HIGH, BAND, ROUNDS, WHY, NEEDED, AA = NEEDED, COLUMNS };
static const char *const columns[COLUMNS] = {"how",     "case",     "verdict", "log_ratio",
                                             "log_low", "log_high", "aa_band", "rounds",
                                             "why",     "log_aa"};

void evidence_heading(FILE *out) {
    for (size_t k = 0; k < COLUMNS; k++) fprintf(out, "%s%s", k ? "," : "", columns[k]);
    fputc('\n', out);
}

void evidence_write(FILE *out, const race_row *r) {
    csv_text(out, r->how), csv_text(out, r->tail);
    if (r->ok)
        fprintf(out, "ok,%.6f,%.6f,%.6f,%.6f,%zu,,%.6f\n", r->ratio, r->low, r->high, r->band,
                r->rounds, r->aa);
    else
        fprintf(out, "fail,,,,,0,"), csv_text(out, r->why), fputc('\n', out);
}

static bool find_columns(const scan *s, size_t at[COLUMNS]) {
    for (size_t k = 0; k < COLUMNS; k++) {
        for (at[k] = 0; at[k] < s->count && strcmp(s->fields[at[k]], columns[k]) != 0;) at[k]++;
        if (at[k] == s->count && k < NEEDED)
            return scan_error(s, 1, "the column %s is missing", columns[k]);
    }
    return true;
}

static double number(const char *text) {
    char *end;
    const double v = strtod(text, &end);
    return *text && !*end ? v : NAN;
}

static race_row row_of(char *const field[COLUMNS], size_t pass) {
    double v[COLUMNS];
    for (int k = RATIO; k <= ROUNDS; k++) v[k] = number(field[k]);
    race_row r = {.ratio = v[RATIO], .low = v[LOW], .high = v[HIGH], .band = v[BAND], .pass = pass};
    r.aa = isfinite(number(field[AA])) ? number(field[AA]) : NAN;
    const bool right = strcmp(field[VERDICT], "ok") == 0;
    r.ok = right && isfinite(r.ratio) && r.low <= r.ratio && r.ratio <= r.high && r.band >= 0 &&
           v[ROUNDS] >= 1 && v[ROUNDS] < 1e9;
    r.rounds = r.ok ? (size_t)v[ROUNDS] : 0;
    snprintf(r.how, sizeof r.how, "%s", field[HOW]);
    snprintf(r.tail, sizeof r.tail, "%s", field[CASE]);
    const char *why = right ? "a pass has no such numbers" : field[WHY];
    const bool lacks = claim_lacks(why);
    if (!r.ok && snprintf(r.why, sizeof r.why, "%s%s%s", lacks ? "" : field[VERDICT],
                          lacks ? "" : ": ", why) >= (int)sizeof r.why)
        text_end_whole(r.why);
    return r;
}

bool evidence_read(evidence *e, const char *path, char *error, size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size};
    size_t at[COLUMNS], named;
    const size_t before = e->count;
    char *text = NULL, *field[COLUMNS];
    bool ok = scan_file(&s, &text) && scan_record(&s) && find_columns(&s, at);
    for (named = s.count; ok && s.at < s.end;) {
        ok = scan_record(&s) &&
             (s.count == named ||
              scan_error(&s, s.first_line, "has %zu fields, not %zu", s.count, named));
        for (size_t k = 0; ok && k < COLUMNS; k++) field[k] = at[k] < named ? s.fields[at[k]] : "";
        if (!ok) break;
        const race_row r = row_of(field, e->passes);
        for (size_t i = before; ok && i < e->count; i++)
            if (strcmp(e->rows[i].how, r.how) == 0 && strcmp(e->rows[i].tail, r.tail) == 0)
                ok = scan_error(&s, s.first_line, "the race %s %s stands there twice", r.how,
                                r.tail);
        ok = ok && (evidence_add(e, &r) || scan_error(&s, 0, "no memory for it"));
    }
    e->passes += ok;
    free(s.fields);
    free(text);
    return ok;
}

/* The facts of a pass in its machine.txt. */
typedef struct origin {
    double when; /* in seconds */
    char kernels[64], quick[8], caches[256];
} origin;

static origin origin_of(const char *machine) {
    origin o = {.when = NAN};
    char line[512];
    struct tm t = {0};
    FILE *f = fopen(machine, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "kernels: %63s", o.kernels) == 1) continue;
        if (sscanf(line, "quick: %7s", o.quick) == 1) continue;
        if (sscanf(line, "caches: %255[^\n]", o.caches) == 1) continue;
        if (sscanf(line, "date: %d-%d-%dT%d:%d:%d", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour,
                   &t.tm_min, &t.tm_sec) == 6)
            t.tm_year -= 1900, t.tm_mon--, o.when = (double)mktime(&t);
    }
    if (f) fclose(f);
    return o;
}

static int by_time(const void *a, const void *b) {
    const double x = ((const race_row *)a)->when, y = ((const race_row *)b)->when;
    return (x > y) - (x < y);
}

static void count_sittings(evidence *e) {
    const race_row none = {.when = 0}, *before = &none;
    if (e->count) qsort(e->rows, e->count, sizeof *e->rows, by_time);
    for (const race_row *r = e->rows; r < e->rows + e->count; before = r++)
        e->sittings += r->when > 0 && evidence_apart(before, r);
}

static size_t matches(const char *folder, const char *pattern, glob_t *found) {
    char path[8300], *to = path;
    for (; *folder && to < path + 8192; *to++ = *folder++)
        if (strchr("*?[\\", *folder)) *to++ = '\\';
    snprintf(to, 100, "/%s", pattern);
    return glob(path, 0, NULL, found) == 0 ? found->gl_pathc : 0;
}

bool evidence_read_folder(evidence *e, const char *folder, bool quick, const char *kernels,
                          char *error, size_t error_size) {
    glob_t found = {0}, torn = {0};
    double first = INFINITY, last = -INFINITY;
    bool ok = true;
    e->torn += matches(folder, ".*.part", &torn);
    const size_t count = matches(folder, "*/machine.txt", &found);
    snprintf(e->kernels, sizeof e->kernels, "%s", kernels ? kernels : "");
    for (size_t i = 0; !kernels && i < count; i++) {
        const origin o = origin_of(found.gl_pathv[i]);
        if (o.when > last) last = o.when, memcpy(e->kernels, o.kernels, sizeof e->kernels);
    }
    last = -INFINITY;
    char path[4096];
    snprintf(path, sizeof path, "%s/../machine.txt", folder); /* as in docs/machines/NAME */
    memcpy(e->caches, origin_of(path).caches, sizeof e->caches);
    for (size_t i = 0; ok && i < count; i++) {
        const char *machine = found.gl_pathv[i];
        const origin o = origin_of(machine);
        snprintf(path, sizeof path, "%.*sraces.csv", (int)(strrchr(machine, '/') + 1 - machine),
                 machine);
        if (strcmp(o.kernels, e->kernels) != 0 || strcmp(o.quick, quick ? "yes" : "no") != 0) {
            e->strange++;
            continue;
        }
        if (*o.caches) memcpy(e->caches, o.caches, sizeof e->caches);
        const size_t before = e->count;
        ok = evidence_read(e, path, error, error_size);
        for (size_t k = before; k < e->count; k++) e->rows[k].when = fmax(o.when, 0);
        first = fmin(first, o.when), last = fmax(last, o.when);
    }
    count_sittings(e);
    if (last > first) e->hours = (last - first) / 3600;
    globfree(&found), globfree(&torn);
    return ok;
}

