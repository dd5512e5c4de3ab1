/* SPDX-License-Identifier: MIT */
#include "verify/error_record.h"
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 2 };
static const char *const names[NAMES] = {"problem", "impls"};

/* Can an update write the text back without quotes? */
static bool is_plain(const char *text) {
    return !text[strcspn(text, ",\"\r\n")];
}

static bool read_header(error_record *e, scan *s) {
    if (!scan_record(s)) return false;
    for (size_t i = 0; i < s->count; i++)
        if (i < NAMES
                ? strcmp(s->fields[i], names[i]) != 0
                : !is_plain(s->fields[i]) || error_record_column(e, s->fields[i]) != i - NAMES)
            return scan_error(
                s, 1, "column %zu is '%s': should be problem, impls, then kinds of data, each once",
                i + 1, s->fields[i]);
    return true;
}

/* Adds a line of the record for each ISA of "name@isa+isa". */
static bool add_impl(error_record *e, scan *s, error_line l, char *name) {
    char *isa = strchr(name, '@');
    if (!isa) return scan_error(s, l.number, "'%s' has no instruction set", name);
    *isa++ = '\0';
    for (char *next; isa; isa = next) {
        if ((next = strchr(isa, '+'))) *next++ = '\0';
        l.name = name, l.isa = isa, l.impl = nl_find(name, isa);
        e->file[e->file_count++] = l;
    }
    return true;
}

static bool read_line(error_record *e, scan *s) {
    char **f = s->fields, *end;
    error_line l = {.number = s->first_line};
    if (s->count != NAMES + e->kind_count)
        return scan_error(s, l.number, "%zu fields where the header has %zu", s->count,
                          NAMES + e->kind_count);
    for (size_t i = 0; i < NAMES; i++)
        if (!is_plain(f[i])) return scan_error(s, l.number, "%s '%s' needs quotes", names[i], f[i]);
    if (!*f[0] || strlen(f[0]) >= sizeof l.problem)
        return scan_error(s, l.number, "'%s' is no op/pass/dtype", f[0]);
    strcpy(l.problem, f[0]);
    for (size_t k = 0; k < KINDS_MAX; k++) {
        const char *text = k < e->kind_count ? f[NAMES + k] : "";
        l.u[k] = *text ? strtod(text, &end) : NAN;
        if (*text && (*end || !isfinite(l.u[k]) || l.u[k] < 0))
            return scan_error(s, l.number, "%s: '%s' should be a number, at least 0", e->kinds[k],
                              text);
    }
    bool ok = true;
    for (char *name = f[1], *next; ok && name; name = next) {
        if ((next = strchr(name, ' '))) *next++ = '\0';
        ok = add_impl(e, s, l, name);
    }
    return ok;
}

static bool has_each_once(const error_record *e, scan *s) {
    for (size_t i = 1; i < e->file_count; i++) {
        const error_line *l = &e->file[i];
        if (error_record_order(l - 1, l) == 0)
            return scan_error(s, l->number, "%s@%s is also in line %zu", l->name, l->isa,
                              l[-1].number);
    }
    return true;
}

static bool read_file(error_record *e, scan *s) {
    if (!scan_file(s, &e->text)) return false;
    size_t most = 1;
    for (const char *p = e->text; *p; p++) most += *p == '\n' || *p == ' ' || *p == '+';
    e->file = calloc(most, sizeof *e->file);
    bool ok = e->file ? read_header(e, s) : scan_error(s, 0, "no memory for it");
    while (ok && s->at < s->end) ok = scan_record(s) && read_line(e, s);
    free(s->fields);
    if (!ok) return false;
    qsort(e->file, e->file_count, sizeof *e->file, error_record_order);
    return has_each_once(e, s);
}

bool error_record_open(error_record *e, const char *path, bool update, char *error,
                       size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size};
    *e = (error_record){.path = path, .now_count = nl_impl_count() * LINES_PER_IMPL};
    const bool missing = update && access(path, F_OK) != 0 && errno == ENOENT;
    if (update) { /* tests before the work whether the file can be written */
        FILE *f = fopen(path, "ab");
        if (!f) return snprintf(error, error_size, "%s: cannot write it", path), false;
        fclose(f);
        if (missing) remove(path);
    }
    if (missing || read_file(e, &s)) {
        e->now = calloc(e->now_count, sizeof *e->now);
        e->ran = calloc(nl_impl_count(), sizeof *e->ran);
        if (e->now && e->ran) return true;
        snprintf(error, error_size, "no memory for the largest errors");
    }
    return error_record_close(e), false;
}

void error_record_close(error_record *e) {
    for (size_t i = 0; e->now && i < e->now_count; i++) free(e->now[i]);
    free(e->text), free(e->file), free(e->now), free(e->ran);
    *e = (error_record){0};
}

/* Rounds up to four digits, so that the record is not below the error; 1e-6 and less become 0. */
static double rounded_up(double u) {
    char text[32];
    if (u <= 1e-6) u = 0;
    if (isnan(u) || u == 0) return u;
    snprintf(text, sizeof text, "%.4g", u);
    if (strtod(text, NULL) < u)
        snprintf(text, sizeof text, "%.4g", u + 0.5 * pow(10, floor(log10(u)) - 3));
    return strtod(text, NULL);
}

/* Sorts by problem, then by numbers: implementations whose arithmetic is the same share a line. */
static int order_of_numbers(const void *a, const void *b) {
    const error_line *l = a, *m = b;
    const int problem = strcmp(l->problem, m->problem);
    if (problem) return problem;
    for (size_t k = 0; k < KINDS_MAX; k++) {
        const double u = isnan(l->u[k]) ? -1 : l->u[k], v = isnan(m->u[k]) ? -1 : m->u[k];
        if (u != v) return u < v ? -1 : 1;
    }
    return 0;
}

static int order_to_write(const void *a, const void *b) {
    const int numbers = order_of_numbers(a, b);
    return numbers ? numbers : error_record_order(a, b);
}

/* Returns the number of written lines. */
static size_t write_lines(const error_record *e, const error_line *lines, size_t count, FILE *out) {
    bool used[KINDS_MAX] = {0};
    size_t written = 0;
    fputs("problem,impls", out);
    for (size_t k = 0; k < e->kind_count; k++) {
        for (size_t i = 0; i < count; i++) used[k] = used[k] || !isnan(lines[i].u[k]);
        if (used[k]) fprintf(out, ",%s", e->kinds[k]);
    }
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        const error_line *l = &lines[i];
        fprintf(out, "%s,%s@%s", l->problem, l->name, l->isa);
        for (; i + 1 < count && order_of_numbers(l, &lines[i + 1]) == 0; i++) {
            const error_line *next = &lines[i + 1];
            if (strcmp(next->name, lines[i].name) == 0)
                fprintf(out, "+%s", next->isa);
            else
                fprintf(out, " %s@%s", next->name, next->isa);
        }
        for (size_t k = 0; k < e->kind_count; k++)
            if (used[k]) isnan(l->u[k]) ? fputs(",", out) : fprintf(out, ",%.4g", l->u[k]);
        fputc('\n', out);
        written++;
    }
    return written;
}

/* The error of dgamma and dbeta depends on how many rows are added up together, which a machine's
 * caches decide. So their lines keep the larger number, the file's or this machine's. */
static void keep_larger(const error_record *e, error_line *l) {
    const error_line *was = bsearch(l, e->file, e->file_count, sizeof *e->file, error_record_order);
    const char *output = strrchr(l->problem, '/') + 1;
    if (!was || (strcmp(output, "dgamma") != 0 && strcmp(output, "dbeta") != 0)) return;
    for (size_t k = 0; k < e->kind_count; k++)
        if (!isnan(l->u[k])) l->u[k] = fmax(l->u[k], was->u[k]);
}

bool error_record_update(const error_record *e, size_t *lines, char *error, size_t error_size) {
    error_line *all = calloc(e->now_count + e->file_count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; all && i < e->now_count; i++)
        if (e->now[i]) all[count] = *e->now[i], keep_larger(e, &all[count++]);
    for (size_t i = 0; all && i < e->file_count; i++)
        if (error_record_not_run(e, &e->file[i])) all[count++] = e->file[i];
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < KINDS_MAX; k++) all[i].u[k] = rounded_up(all[i].u[k]);
    FILE *out = all ? fopen(e->path, "w") : NULL;
    bool ok = out != NULL;
    if (ok) {
        qsort(all, count, sizeof *all, order_to_write);
        *lines = write_lines(e, all, count, out);
        ok = fflush(out) == 0 && !ferror(out);
        ok = fclose(out) == 0 && ok;
    }
    if (!ok) snprintf(error, error_size, "cannot write %s: %s", e->path, strerror(errno));
    free(all);
    return ok;
}
