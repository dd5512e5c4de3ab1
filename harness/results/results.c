/* The whole file is read and cut into fields in place; rows point into the text. Columns are found
 * by name; unknown columns are ignored. SPDX-License-Identifier: MIT */
#include "results/results.h"
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum kind { TEXT, NAME, VERDICT, COUNT, POSITIVE, NOT_NEGATIVE } kind;

static const struct column {
    const char *name;
    size_t offset;
    kind kind;
    bool needed;
} columns[] = {
    {"case", offsetof(result, spelling), NAME, true},
    {"impl", offsetof(result, impl), NAME, true},
    {"isa", offsetof(result, isa), NAME, true},
    {"threads", offsetof(result, threads), COUNT, true},
    {"verdict", offsetof(result, verdict), VERDICT, true},
    {"ns", offsetof(result, ns), POSITIVE, true},
    {"ns_low", offsetof(result, ns_low), POSITIVE, true},
    {"ns_high", offsetof(result, ns_high), POSITIVE, true},
    {"data", offsetof(result, data), TEXT, false},
    {"flag", offsetof(result, flag), TEXT, false},
    {"comparison", offsetof(result, comparison), TEXT, false},
    {"baseline", offsetof(result, baseline), TEXT, false},
    {"limit_pct", offsetof(result, limit_pct), POSITIVE, false},
    {"aa_band", offsetof(result, aa_band), NOT_NEGATIVE, false},
    {"speedup", offsetof(result, speedup), POSITIVE, false},
    {"speedup_low", offsetof(result, speedup_low), POSITIVE, false},
    {"speedup_high", offsetof(result, speedup_high), POSITIVE, false},
    {"quiet_ns", offsetof(result, quiet_ns), POSITIVE, false},
    {"quiet_speedup", offsetof(result, quiet_speedup), POSITIVE, false},
    {"n", offsetof(result, n), NOT_NEGATIVE, false},
    {"c", offsetof(result, c), NOT_NEGATIVE, false},
    {"s", offsetof(result, s), NOT_NEGATIVE, false},
    {"bytes", offsetof(result, bytes), NOT_NEGATIVE, false},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *const verdicts[] = {"ok", "fail", "demo", "skip"};

/* False: the text is no value of the column. */
static bool store(result *r, const struct column *c, const char *text) {
    void *at = (char *)r + c->offset;
    double v = NAN;
    switch (c->kind) {
    case VERDICT:
        for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
            if (strcmp(text, verdicts[i]) == 0) *(const char **)at = text;
        return **(const char **)at;
    case NAME:
    case TEXT: *(const char **)at = text; return c->kind == TEXT || *text;
    case COUNT:
        if (!csv_finite(text, &v) || v < 1 || v > 1e6 || v != floor(v)) return false;
        *(int *)at = (int)v;
        return true;
    default:
        if (*text && (!csv_finite(text, &v) || v < 0 || (v == 0 && c->kind == POSITIVE)))
            return false;
        *(double *)at = v;
        return true;
    }
}

static bool read_row(scan *s, const struct column *const *meaning, size_t width, result *r) {
    static const char *const should[] = {
        [NAME] = "not be empty",
        [VERDICT] = "be ok, fail, demo or skip",
        [COUNT] = "be a whole number from 1 to 1000000",
        [POSITIVE] = "be a positive number, or empty",
        [NOT_NEGATIVE] = "be a number that is not negative, or empty",
    };
    if (s->count != width)
        return scan_error(s, s->first_line, "%zu fields where the header has %zu: measure again",
                          s->count, width);
    *r = (result){.line = s->first_line, .data = "", .verdict = "", .flag = "", .limit_pct = NAN};
    r->comparison = r->baseline = "";
    r->aa_band = r->n = r->c = r->s = r->bytes = NAN; /* the columns that may be missing */
    r->speedup = r->speedup_low = r->speedup_high = r->quiet_ns = r->quiet_speedup = NAN;
    for (size_t i = 0; i < width; i++)
        if (meaning[i] && !store(r, meaning[i], s->fields[i]))
            return scan_error(s, s->first_line, "%s '%.60s' should %s", meaning[i]->name,
                              s->fields[i], should[meaning[i]->kind]);
    if (isnan(r->ns) && !(isnan(r->ns_low) && isnan(r->ns_high)))
        return scan_error(s, s->first_line, "an interval without its ns: measure again");
    if (r->ns_low > r->ns || r->ns > r->ns_high)
        return scan_error(s, s->first_line, "ns %g is not between ns_low %g and ns_high %g", r->ns,
                          r->ns_low, r->ns_high);
    return true;
}

/* Maps each field of the header to its column; NULL: unknown. */
static bool read_header(scan *s, const struct column ***meaning) {
    if (s->at == s->end) return scan_error(s, 0, "it is empty: measure again");
    if (!scan_record(s)) return false;
    if (s->cut) return scan_error(s, 1, "the header is cut off: measure again");
    *meaning = calloc(s->count, sizeof **meaning);
    if (!*meaning) return scan_error(s, 1, "no memory for its columns");
    for (const struct column *c = columns; c < columns + COLUMNS; c++) {
        size_t found = 0;
        for (size_t i = 0; i < s->count; i++)
            if (strcmp(s->fields[i], c->name) == 0) (*meaning)[i] = c, found++;
        if (found > 1) return scan_error(s, 1, "%zu columns are called %s", found, c->name);
        if (found == 0 && c->needed)
            return scan_error(s, 1,
                              "no column %s, so this is no file of `normlab bench --out`; to chart "
                              "other tables: plots/chart.py --by file",
                              c->name);
    }
    return true;
}

int results_order(const result *a, const result *b) {
    int order = strcmp(a->spelling, b->spelling);
    if (!order) order = strcmp(a->impl, b->impl);
    if (!order) order = strcmp(a->isa, b->isa);
    return order ? order : (a->threads > b->threads) - (a->threads < b->threads);
}

/* Sorts rows of one key by line. */
static int by_key_and_line(const void *a, const void *b) {
    const result *x = *(result *const *)a, *y = *(result *const *)b;
    int order = results_order(x, y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static bool read_rows(scan *s, const struct column *const *meaning, results *out) {
    size_t width = s->count, room = 0;
    while (s->at < s->end) {
        if (!scan_record(s)) return false;
        if (s->cut) {
            snprintf(out->warning, sizeof out->warning,
                     "%.400s:%zu: the last line is cut off and left out; the run did not end",
                     s->path, s->first_line);
            break;
        }
        if (out->count == room) {
            room = room ? 2 * room : 64;
            result *rows = realloc(out->rows, room * sizeof *rows);
            if (!rows) return scan_error(s, s->line, "no memory for its rows");
            out->rows = rows;
        }
        if (!read_row(s, meaning, width, &out->rows[out->count])) return false;
        out->count++;
    }
    out->sorted = malloc((out->count + 1) * sizeof *out->sorted);
    if (!out->sorted) return scan_error(s, 0, "no memory for its rows");
    for (size_t i = 0; i < out->count; i++) out->sorted[i] = &out->rows[i];
    qsort(out->sorted, out->count, sizeof *out->sorted, by_key_and_line);
    for (size_t i = 1; i < out->count; i++) {
        const result *a = out->sorted[i - 1], *b = out->sorted[i];
        if (results_order(a, b) == 0)
            return scan_error(s, b->line, "%.100s %.60s@%.20s, threads %d is in line %zu already",
                              b->spelling, b->impl, b->isa, b->threads, a->line);
    }
    return true;
}

/* "key: value" lines. */
static bool read_facts(scan *s, results *out) {
    struct stat about;
    if (stat(s->path, &about) != 0 && errno == ENOENT) return true;
    if (!scan_file(s, &out->facts_text)) return false;
    size_t lines = 1;
    for (const char *p = s->at; p < s->end; p++) lines += *p == '\n';
    if (lines > 1000) return scan_error(s, 1000, "too long for the facts of a machine");
    out->facts = calloc(lines, sizeof *out->facts);
    if (!out->facts) return scan_error(s, 0, "no memory for its lines");
    for (char *line; (line = scan_line(s));) {
        char *colon = strchr(line, ':');
        if (*line && !colon)
            return scan_error(s, s->first_line, "'%.60s' should be `key: value`", line);
        if (!colon) continue;
        *colon = '\0';
        out->facts[out->fact_count++] = (fact){line, colon + 1 + strspn(colon + 1, " \t")};
    }
    return true;
}

bool results_read(const char *path, results *out, char *error, size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size}, m = s;
    const struct column **meaning = NULL;
    char machine[CSV_PATH];
    *out = (results){0};
    bool ok = scan_file(&s, &out->text) && read_header(&s, &meaning) && read_rows(&s, meaning, out);
    m.path = machine;
    ok = ok && csv_beside(path, ".machine.txt", machine) && read_facts(&m, out);
    if (!ok) results_free(out);
    free(meaning);
    free(s.fields);
    return ok;
}

void results_free(results *r) {
    for (size_t i = 0; i < r->part_count; i++) results_free(&r->parts[i]);
    free(r->parts);
    free(r->each);
    free(r->by_pass);
    free(r->rows);
    free(r->facts);
    free(r->sorted);
    free(r->text);
    free(r->facts_text);
    *r = (results){0};
}

static int by_key(const void *like, const void *row) {
    return results_order(like, *(const result *const *)row);
}

const result *results_find(const results *r, const result *like) {
    result **found = bsearch(like, r->sorted, r->count, sizeof *r->sorted, by_key);
    return found ? *found : NULL;
}

const char *results_fact(const results *r, const char *key) {
    for (size_t i = 0; i < r->fact_count; i++)
        if (strcmp(r->facts[i].key, key) == 0) return r->facts[i].value;
    return NULL;
}
