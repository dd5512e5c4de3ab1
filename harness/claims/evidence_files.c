/* SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "claims/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The largest plausible logarithm of a ratio of two times. */
#define LOG_MOST 100

enum {
    HOW,
    CASE,
    VERDICT,
    RATIO,
    LOW,
    HIGH,
    BAND,
    ROUNDS,
    WHY,
    NEEDED,
    AA = NEEDED,
    MADE,
    COLUMNS
};
static const char *const columns[COLUMNS] = {"how",     "case",     "verdict", "log_ratio",
                                             "log_low", "log_high", "aa_band", "rounds",
                                             "why",     "log_aa",   "visits"};

void evidence_heading(FILE *out) {
    for (size_t k = 0; k < COLUMNS; k++) fprintf(out, "%s%s", k ? "," : "", columns[k]);
    fputc('\n', out);
}

void evidence_write(FILE *out, const race_row *r) {
    csv_text(out, r->how), csv_text(out, r->tail);
    if (r->ok)
        fprintf(out, "ok,%.6f,%.6f,%.6f,%.6f,%zu,,%.6f,", r->ratio, r->low, r->high, r->band,
                r->rounds, r->aa);
    else
        fprintf(out, "fail,,,,,0,"), csv_text(out, r->why), fputc(',', out);
    fprintf(out, "%zu\n", r->visits);
}

static bool find_columns(const scan *s, size_t at[COLUMNS]) {
    for (size_t k = 0; k < COLUMNS; k++) {
        for (at[k] = 0; at[k] < s->count && strcmp(s->fields[at[k]], columns[k]) != 0;) at[k]++;
        if (at[k] == s->count && k < NEEDED)
            return scan_error(s, 1, "the column %s is missing", columns[k]);
    }
    return true;
}

static bool read_numbers(char *const field[COLUMNS], race_row *r) {
    double rounds = 0, visits = 1, *const to[] = {&r->ratio, &r->low, &r->high, &r->band, &rounds};
    bool all = (!*field[AA] || csv_finite(field[AA], &r->aa)) &&
               (!*field[MADE] || csv_finite(field[MADE], &visits));
    for (int k = RATIO; k <= ROUNDS; k++) all = csv_finite(field[k], to[k - RATIO]) && all;
    r->visits = all && visits >= 1 && visits <= VISITS ? (size_t)visits : 0;
    r->rounds = all && rounds >= 1 && rounds < 1e9 ? (size_t)rounds : 0;
    return r->rounds && (double)r->rounds >= rounds && -LOG_MOST <= r->low && r->low <= r->ratio &&
           r->ratio <= r->high && r->high <= LOG_MOST && 0 <= r->band && r->band <= LOG_MOST &&
           !(fabs(r->aa) > r->band) && r->visits && (double)r->visits >= visits;
}

static bool read_race(const scan *s, char *const field[COLUMNS], race_row *r) {
    const bool lacks = claim_lacks(field[WHY]);
    r->ok = strcmp(field[VERDICT], "ok") == 0;
    snprintf(r->how, sizeof r->how, "%s", field[HOW]);
    snprintf(r->tail, sizeof r->tail, "%s", field[CASE]);
    const bool known =
        r->ok || strcmp(field[VERDICT], "fail") == 0 || strcmp(field[VERDICT], "skip") == 0;
    if (!known || (r->ok && !read_numbers(field, r)))
        return scan_error(s, s->first_line, "the verdict or a number is invalid");
    if (!r->ok && snprintf(r->why, sizeof r->why, "%s%s%s", lacks ? "" : field[VERDICT],
                           lacks ? "" : ": ", field[WHY]) >= (int)sizeof r->why)
        text_end_whole(r->why);
    return true;
}

bool evidence_read(evidence *e, const char *path, char *error, size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size};
    size_t at[COLUMNS], named;
    const size_t before = e->count;
    char *text = NULL, *field[COLUMNS];
    bool ok = scan_file(&s, &text) && scan_record(&s) && find_columns(&s, at);
    for (named = s.count; ok && s.at < s.end;) {
        race_row r = {.aa = NAN, .pass = e->passes};
        ok = scan_record(&s) &&
             (!s.cut || scan_error(&s, s.first_line, "the last line is cut off")) &&
             (s.count == named ||
              scan_error(&s, s.first_line, "has %zu fields, not %zu", s.count, named));
        for (size_t k = 0; ok && k < COLUMNS; k++) field[k] = at[k] < named ? s.fields[at[k]] : "";
        ok = ok && read_race(&s, field, &r);
        for (size_t i = before; ok && i < e->count; i++)
            if (strcmp(e->rows[i].how, r.how) == 0 && strcmp(e->rows[i].tail, r.tail) == 0)
                ok = scan_error(&s, s.first_line, "the race %s %s is in the file twice", r.how,
                                r.tail);
        ok = ok && (evidence_add(e, &r) || scan_error(&s, 0, "no memory for it"));
    }
    e->passes += ok;
    free(s.fields);
    free(text);
    return ok;
}

/* Facts in machine.txt, of the machine and of the pass. */
enum { CPU, FAMILY, CPUS, CACHES, ISA, THREADS, OF_MACHINE };
enum { KERNELS = OF_MACHINE, QUICK, RACES, DATE, CRC, FACTS };
static const char *const facts[FACTS] = {"cpu",     "family", "cpus",  "caches", "isa", "threads",
                                         "kernels", "quick",  "races", "date",   "crc"};

typedef struct origin {
    char fact[FACTS][256]; /* "": missing */
    double when;           /* in seconds; NaN: not known */
} origin;

/* NaN: the date does not exist, or is not in this century. */
static double seconds_of(const char *date) {
    static const char form[] = "%Y-%m-%dT%H:%M:%SZ";
    struct tm t = {0};
    char again[64];
    const char *end = strptime(date, form, &t);
    const time_t when = timegm(&t);
    strftime(again, sizeof again, form, gmtime(&when)); /* February 30 becomes March */
    return end && strcmp(date, again) == 0 && strncmp(date, "20", 2) == 0 ? (double)when : NAN;
}

static origin origin_of(const char *folder) {
    origin o = {0};
    char path[4400], line[512];
    snprintf(path, sizeof path, "%.4096s/machine.txt", folder);
    struct stat s; /* opening a pipe would wait */
    FILE *f = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        for (size_t k = 0; k < FACTS; k++) {
            const char *value = line + strlen(facts[k]);
            if (strncmp(line, facts[k], strlen(facts[k])) == 0 && strncmp(value, ": ", 2) == 0)
                snprintf(o.fact[k], sizeof o.fact[k], "%.*s", (int)strcspn(value + 2, "\r\n"),
                         value + 2);
        }
    if (f) fclose(f);
    o.when = seconds_of(o.fact[DATE]);
    return o;
}

/* The checksum of races.csv and of the facts about the pass. */
static bool sum_of(const char *folder, const origin *o, char sum[9]) {
    char path[4400];
    uint32_t crc = 0;
    snprintf(path, sizeof path, "%.4096s/races.csv", folder);
    const bool ok = crc_file(&crc, path);
    for (size_t k = OF_MACHINE; k < CRC; k++) crc = crc_text(crc_text(crc, o->fact[k]), "\n");
    snprintf(sum, 9, "%08x", (unsigned)crc);
    return ok;
}

bool evidence_seal(const char *folder) {
    char path[4400], sum[9];
    const origin o = origin_of(folder);
    snprintf(path, sizeof path, "%.4096s/machine.txt", folder);
    FILE *out = sum_of(folder, &o, sum) ? fopen(path, "a") : NULL;
    if (out) fprintf(out, "crc: %s\n", sum);
    return out && fclose(out) == 0;
}

/* Adds a pass. Facts about the machine that machine.txt lacks come from `home`. False: e->fault
 * describes the damage. */
static bool read_pass(evidence *e, const char *folder, const origin *home, origin *o) {
    const size_t before = e->count;
    char path[4400], sum[9];
    const scan s = {.path = path, .error = e->fault, .error_size = sizeof e->fault};
    *o = origin_of(folder);
    for (size_t k = 0; k < OF_MACHINE; k++)
        if (!*o->fact[k]) memcpy(o->fact[k], home->fact[k], sizeof o->fact[k]);
    snprintf(path, sizeof path, "%.4096sraces.csv", folder);
    if (!evidence_read(e, path, e->fault, sizeof e->fault)) return false;
    const size_t races = e->count - before;
    if (*o->fact[RACES] ? strtoul(o->fact[RACES], NULL, 10) != races : !races)
        return scan_error(&s, 0, "has %zu races, not %s", races,
                          *o->fact[RACES] ? o->fact[RACES] : "one or more");
    if (isnan(o->when))
        return scan_error(&s, 0, "the machine.txt beside it has no date of this century");
    if (*o->fact[CRC] && (!sum_of(folder, o, sum) || strcmp(sum, o->fact[CRC]) != 0))
        return scan_error(&s, 0,
                          "the file or the machine.txt beside it has changed since the pass");
    for (size_t i = before; i < e->count; i++) e->rows[i].when = o->when;
    return true;
}

/* Are all facts equal that are known of both machines? */
static bool same_machine(const origin *a, const origin *b) {
    bool same = true;
    for (int k = 0; k < OF_MACHINE; k++)
        same = same && (!*a->fact[k] || !*b->fact[k] || strcmp(a->fact[k], b->fact[k]) == 0);
    return same;
}

/* Do the rows from number `from` on repeat an earlier pass with the same date? */
static bool is_copy(const evidence *e, size_t from) {
    const race_row *begin = e->rows + from, *end = e->rows + e->count;
    size_t twins = 0;
    for (const race_row *q = e->rows; q < begin && begin < end; q++)
        for (const race_row *r = begin; q->when == begin->when && r < end; r++)
            twins += q->ratio == r->ratio && q->low == r->low && q->high == r->high &&
                     strcmp(q->how, r->how) == 0 && strcmp(q->tail, r->tail) == 0;
    return twins > 0 && twins >= e->count - from;
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

void evidence_read_folder(evidence *e, const char *folder, bool quick, const char *kernels) {
    glob_t found = {0}, torn = {0};
    char parent[4200]; /* a folder such as docs/machines/NAME */
    snprintf(parent, sizeof parent, "%.4096s/..", folder);
    const origin home = origin_of(parent);
    origin o, latest = {.when = -INFINITY};
    double first = INFINITY;
    e->torn += files_in(folder, ".*.part", &torn);
    const size_t count = files_in(folder, "*/", &found);
    for (size_t i = 0; i < count; i++) {
        evidence one = {0};
        if (read_pass(&one, found.gl_pathv[i], &home, &o) && o.when > latest.when &&
            strcmp(o.fact[QUICK], quick ? "yes" : "no") == 0 &&
            (!kernels || strcmp(o.fact[KERNELS], kernels) == 0))
            latest = o;
        evidence_free(&one);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t rows = e->count, passes = e->passes;
        size_t *left = NULL;
        if (!read_pass(e, found.gl_pathv[i], &home, &o))
            left = &e->damaged;
        else if (o.when > latest.when || strcmp(o.fact[KERNELS], latest.fact[KERNELS]) != 0 ||
                 strcmp(o.fact[QUICK], latest.fact[QUICK]) != 0)
            left = &e->strange;
        else if (!same_machine(&o, &latest))
            left = &e->elsewhere;
        else if (is_copy(e, rows))
            left = &e->copies;
        else
            first = fmin(first, o.when);
        if (left) ++*left, e->count = rows, e->passes = passes;
    }
    snprintf(e->kernels, sizeof e->kernels, "%.63s", latest.fact[KERNELS]);
    memcpy(e->caches, latest.fact[CACHES], sizeof e->caches);
    count_sittings(e);
    if (first < latest.when) e->hours = (latest.when - first) / 3600;
    globfree(&found), globfree(&torn);
}
