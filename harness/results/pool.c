/* SPDX-License-Identifier: MIT */
#include "results/results.h"
#include "base/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pool_is(const char *path) {
    glob_t found = {0};
    const bool any = files_in(path, "*/bench*.csv", &found) > 0; /* also of older versions */
    globfree(&found);
    return any;
}

static double value_of(const result *r, pass_value what) {
    return what == PASS_SPEED   ? log(r->speedup)
           : what == PASS_QUIET ? log(r->quiet_speedup)
           : what == PASS_SHARE ? log(r->limit_pct / 100)
                                : log(r->ns);
}

/* The interval of a pass, from its processes; of a process, from its rounds. */
static estimate range_of(const result *r, pass_value what) {
    if (what == PASS_SPEED) return (estimate){0, log(r->speedup_low), log(r->speedup_high)};
    const double v = value_of(r, what);
    const double up = log(r->ns_high / r->ns), down = log(r->ns / r->ns_low);
    return what == PASS_TIME ? (estimate){0, v - down, v + up} : (estimate){0, v - up, v + down};
}

estimate estimate_of_passes(const result *row, pass_value what) {
    double v[PASSES_MAX];
    estimate all = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < row->passes; i++) {
        const estimate one = range_of(row->each[i], what);
        v[i] = value_of(row->each[i], what);
        all.low = fmin(all.low, one.low), all.high = fmax(all.high, one.high);
    }
    const estimate middle = stats_middle(v, row->passes);
    return row->passes < PASSES_ENOUGH ? (estimate){middle.median, all.low, all.high} : middle;
}

static double middle(const result *row, double (*of)(const result *)) {
    double v[PASSES_MAX];
    for (size_t i = 0; i < row->passes; i++) v[i] = of(row->each[i]);
    return stats_median(v, row->passes, 0).median;
}

static double share_of(const result *r) {
    return r->limit_pct;
}

static double band_of(const result *r) {
    return r->aa_band;
}

/* Collects log(quiet_speedup) of a pass's quiet processes, and returns their number. In the other
 * processes something slowed the baseline by more than 2 %. The row's own time does not decide:
 * the fastest processes of an unsteady row are not typical of it. */
static size_t quiet_speeds(const result *pass, double v[PASSES_MAX]) {
    double least = INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < pass->passes; i++) least = fmin(least, pass->each[i]->quiet_ns);
    for (size_t i = 0; i < pass->passes; i++)
        if (pass->each[i]->quiet_ns <= QUIET_WITHIN * least)
            v[count++] = log(pass->each[i]->quiet_speedup);
    return count;
}

/* Pools the rows of one key: of the processes of a pass, or of passes. */
static result merged(const result **each, size_t count) {
    result r = *each[0];
    r.each = each, r.passes = count;
    r.quiet_ns = r.quiet_speedup = NAN;
    for (size_t i = 1; i < count; i++) {
        const result *one = each[i];
        if (strcmp(one->verdict, "fail") == 0 || strcmp(r.verdict, "ok") == 0)
            r.verdict = one->verdict;
        if (*one->flag) r.flag = one->flag;
        if (isnan(one->ns)) r.ns = NAN;
    }
    if (isnan(r.ns)) {
        r.ns_low = r.ns_high = r.limit_pct = r.aa_band = NAN;
        r.speedup = r.speedup_low = r.speedup_high = NAN;
        return r;
    }
    const estimate time = estimate_of_passes(&r, PASS_TIME);
    r.ns = exp(time.median), r.ns_low = exp(time.low), r.ns_high = exp(time.high);
    r.limit_pct = middle(&r, share_of), r.aa_band = middle(&r, band_of);
    const estimate speed = estimate_of_passes(&r, PASS_SPEED);
    r.speedup = exp(speed.median), r.speedup_low = exp(speed.low), r.speedup_high = exp(speed.high);
    return r;
}

/* The row of a pass. Disturbances also slow the limit, so a flag (IMPOSSIBLE) counts only if most
 * processes have it. */
static result pass_of(const result **each, size_t count) {
    result r = merged(each, count);
    double v[PASSES_MAX], squares = 0;
    size_t flagged = 0;
    for (size_t i = 0; i < count; i++) flagged += *each[i]->flag != 0;
    if (2 * flagged <= count) r.flag = "";
    const size_t quiet = isnan(r.ns) ? 0 : quiet_speeds(&r, v);
    r.quiet_speedup = quiet ? exp(stats_mean(v, quiet, &squares)) : NAN;
    return r;
}

static double deviation_of(const double *v, size_t n) {
    double squares = 0;
    stats_mean(v, n, &squares);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

pool_spread pool_spread_of(const results *pool, pass_value what) {
    pool_spread s = {NAN, NAN, NAN};
    double *v = malloc((3 * pool->count + 1) * sizeof *v), *within = v, *between = v + pool->count,
           *count = between + pool->count;
    double x[PASSES_MAX], y[PASSES_MAX];
    size_t n = 0;
    for (size_t i = 0; v && i < pool->count; i++) {
        const result *r = &pool->rows[i];
        if (isnan(r->ns) || r->passes < 2 || isnan(value_of(r->each[0], what)) ||
            (what == PASS_QUIET && strcmp(r->comparison, "baseline") == 0))
            continue;
        within[n] = count[n] = 0;
        for (size_t k = 0; k < r->passes; k++) {
            const result *pass = r->each[k];
            x[k] = value_of(pass, what);
            for (size_t j = 0; j < pass->passes; j++) y[j] = value_of(pass->each[j], what);
            const size_t used = what == PASS_QUIET ? quiet_speeds(pass, y) : pass->passes;
            within[n] += deviation_of(y, used) / (double)r->passes;
            count[n] += (double)used / (double)r->passes;
        }
        between[n++] = deviation_of(x, r->passes);
    }
    if (n) s.within = stats_median(within, n, 0).median;
    if (n) s.between = stats_median(between, n, 0).median;
    if (n) s.count = stats_median(count, n, 0).median;
    free(v);
    return s;
}

static int by_key_and_pass(const void *a, const void *b) {
    const result *const x = *(const result *const *)a, *const y = *(const result *const *)b;
    const int order = results_order(x, y);
    return order ? order : (x->pass > y->pass) - (x->pass < y->pass);
}

static bool merge(results *out) {
    size_t rows = 0, at = 0, made = 0;
    for (size_t i = 0; i < out->part_count; i++) rows += out->parts[i].count;
    out->each = malloc((2 * rows + 1) * sizeof *out->each);
    out->rows = malloc((rows + 1) * sizeof *out->rows);
    out->sorted = malloc((rows + 1) * sizeof *out->sorted);
    out->by_pass = malloc((rows + 1) * sizeof *out->by_pass);
    if (!out->each || !out->rows || !out->sorted || !out->by_pass) return false;
    for (size_t i = 0; i < out->part_count; i++)
        for (size_t k = 0; k < out->parts[i].count; k++) out->each[at++] = &out->parts[i].rows[k];
    const result **of_process = out->each, **of_pass = out->each + rows;
    qsort(of_process, rows, sizeof *of_process, by_key_and_pass);
    for (size_t i = 0, end; i < rows; i = end) {
        for (end = i + 1; end < rows && !by_key_and_pass(&of_process[i], &of_process[end]);) end++;
        out->by_pass[made] = pass_of(of_process + i, end - i);
        of_pass[made] = &out->by_pass[made], made++;
    }
    for (size_t i = 0, end; i < made; i = end) {
        for (end = i + 1; end < made && results_order(of_pass[i], of_pass[end]) == 0;) end++;
        out->sorted[out->count] = &out->rows[out->count];
        out->rows[out->count++] = merged(of_pass + i, end - i);
    }
    return true;
}

/* The processes of a pool must agree in kernels, files of --load, processor and --quick. */
static bool alike(const results *parts, size_t count, char *const *paths, char *error,
                  size_t error_size) {
    static const char *const keys[] = {"kernels", "loaded", "cpu", "quick"};
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *a = results_fact(&parts[0], keys[k]), *b = results_fact(&parts[i], keys[k]);
            if (strcmp(a ? a : "", b ? b : "") == 0) continue;
            snprintf(error, error_size,
                     "%.300s and %.300s cannot be pooled: %s is '%.40s' and '%.40s'. Give "
                     "each its own folder",
                     paths[0], paths[i], keys[k], a ? a : "", b ? b : "");
            return false;
        }
    return true;
}

/* Is one file a copy of the other, with the same date? */
static bool is_copy(const results *a, const results *b) {
    const char *of_a = results_fact(a, "date"), *of_b = results_fact(b, "date");
    bool same = of_a && of_b && strcmp(of_a, of_b) == 0 && a->count == b->count, timed = false;
    for (size_t i = 0; same && i < a->count; i++)
        timed = timed || !isnan(a->rows[i].ns),
        same = results_order(&a->rows[i], &b->rows[i]) == 0 && !(a->rows[i].ns < b->rows[i].ns) &&
               !(a->rows[i].ns > b->rows[i].ns); /* or both NAN */
    return same && timed;
}

/* Does a file's checksum differ from the checksum in its facts? */
static bool changed(const results *one, const char *path) {
    const char *sum = results_fact(one, "crc");
    uint32_t crc = 0;
    char now[9] = "";
    if (sum && crc_file(&crc, path)) snprintf(now, sizeof now, "%08x", (unsigned)crc);
    return sum && strcmp(sum, now) != 0;
}

/* Numbers the passes: the files of a folder are the processes of a pass. False: a pass has too many
 * files, or there are too many passes. */
static bool number_passes(results *pool, char *const *paths) {
    size_t pass = 0, size = 0;
    bool fit = true;
    for (size_t i = 0; i < pool->part_count; i++) {
        const size_t folder = (size_t)(strrchr(paths[i], '/') - paths[i]) + 1;
        if (i && strncmp(paths[i], paths[i - 1], folder) != 0) pass++, size = 0;
        fit = fit && ++size <= PASSES_MAX && pass < PASSES_MAX;
        for (size_t k = 0; k < pool->parts[i].count; k++) pool->parts[i].rows[k].pass = pass;
    }
    return fit;
}

/* Leaves out files that were cut off or changed, and copies of other files; counts the passes. */
static void leave_out(results *pool, char *const *paths) {
    const size_t all = pool->part_count;
    size_t kept = 0;
    for (size_t i = 0; i < all; i++) {
        results *one = &pool->parts[i];
        bool left = *one->warning || !one->count || changed(one, paths[i]);
        for (size_t k = 0; k < kept; k++) left = left || is_copy(&pool->parts[k], one);
        if (!left) {
            pool->passes += !kept || one->rows->pass != pool->parts[kept - 1].rows->pass;
            pool->parts[kept++] = *one;
            continue;
        }
        results_free(one);
        snprintf(pool->warning, sizeof pool->warning,
                 "%zu of %zu processes are left out: their files are cut off, changed or copies; "
                 "the last: %.300s",
                 i + 1 - kept, all, paths[i]);
    }
    pool->part_count = kept;
}

bool pool_read(const char *folder, results *out, char *error, size_t error_size) {
    glob_t found = {0};
    const size_t count = files_in(folder, "*/bench-*[0-9].csv", &found);
    *out = (results){0};
    bool ok = count > 0;
    if (!ok)
        snprintf(error, error_size,
                 "%s has no PASS/bench-1.csv, or only passes of an older version: measure "
                 "them again",
                 folder);
    out->parts = ok ? calloc(count, sizeof *out->parts) : NULL;
    if (ok && !out->parts) ok = false, snprintf(error, error_size, "%s: no memory", folder);
    for (size_t i = 0; ok && i < count; i++) {
        ok = results_read(found.gl_pathv[i], &out->parts[i], error, error_size);
        out->part_count += ok;
    }
    ok = ok && alike(out->parts, count, found.gl_pathv, error, error_size);
    if (ok && !number_passes(out, found.gl_pathv))
        ok = false, snprintf(error, error_size, "%s: more than %d passes, or files in a pass",
                             folder, PASSES_MAX);
    if (ok) leave_out(out, found.gl_pathv);
    if (ok && !out->part_count) ok = false, snprintf(error, error_size, "%s", out->warning);
    if (ok && !merge(out)) ok = false, snprintf(error, error_size, "%s: no memory", folder);
    size_t fewer = 0;
    for (size_t i = 0; i < out->count; i++) fewer += out->rows[i].passes < out->passes;
    if (fewer && !*out->warning)
        snprintf(out->warning, sizeof out->warning, "%.400s: %zu rows are not in every pass",
                 folder, fewer);
    if (ok) { /* the first pass's facts apply to all passes */
        results *first = &out->parts[0];
        out->facts = first->facts, out->fact_count = first->fact_count;
        out->facts_text = first->facts_text;
        first->facts = NULL, first->facts_text = NULL, first->fact_count = 0;
    }
    globfree(&found);
    if (!ok) results_free(out);
    return ok;
}
