/* SPDX-License-Identifier: MIT */
#include "results/results.h"
#include "base/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char passes[] = "*/bench.csv";

bool pool_is(const char *path) {
    glob_t found = {0};
    const bool any = files_in(path, passes, &found) > 0;
    globfree(&found);
    return any;
}

static double value_of(const result *r, pass_value what) {
    return what == PASS_SPEED ? log(r->speedup)
                              : (what == PASS_SHARE ? log(r->limit_pct / 100) : log(r->ns));
}

/* The interval of a pass, from its rounds. */
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

/* Pools the rows of one key, in the order of the passes. */
static result merged(const result **each, size_t passes) {
    result r = *each[0];
    r.each = each, r.passes = passes;
    for (size_t i = 1; i < passes; i++) {
        const result *one = each[i];
        if (strcmp(one->verdict, r.verdict) != 0 && strcmp(r.verdict, "ok") == 0)
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

pool_spread pool_spread_of(const results *pool, pass_value what) {
    pool_spread s = {NAN, NAN};
    double *v = malloc((2 * pool->count + 1) * sizeof *v), *within = v, *between = v + pool->count;
    double x[PASSES_MAX];
    size_t n = 0;
    for (size_t i = 0; v && i < pool->count; i++) {
        const result *r = &pool->rows[i];
        double squares = 0, rounds = 0;
        if (isnan(r->ns) || r->passes < 2 || isnan(value_of(r->each[0], what)) ||
            (what == PASS_SPEED && strcmp(r->comparison, "baseline") == 0))
            continue;
        for (size_t k = 0; k < r->passes; k++) {
            const estimate range = range_of(r->each[k], what);
            x[k] = value_of(r->each[k], what);
            rounds += (range.high - range.low) / 2 / 1.96;
        }
        stats_mean(x, r->passes, &squares);
        within[n] = rounds / (double)r->passes;
        between[n++] = sqrt(squares / (double)(r->passes - 1));
    }
    if (n) s.within = stats_median(within, n, 0).median;
    if (n) s.between = stats_median(between, n, 0).median;
    free(v);
    return s;
}

static int by_key_and_pass(const void *a, const void *b) {
    const result *const x = *(const result *const *)a, *const y = *(const result *const *)b;
    const int order = results_order(x, y);
    return order ? order : (x->pass > y->pass) - (x->pass < y->pass);
}

static bool merge(results *out) {
    size_t rows = 0, at = 0;
    for (size_t i = 0; i < out->part_count; i++) rows += out->parts[i].count;
    out->each = malloc((rows + 1) * sizeof *out->each);
    out->rows = malloc((rows + 1) * sizeof *out->rows);
    out->sorted = malloc((rows + 1) * sizeof *out->sorted);
    if (!out->each || !out->rows || !out->sorted) return false;
    for (size_t i = 0; i < out->part_count; i++)
        for (size_t k = 0; k < out->parts[i].count; k++) {
            out->parts[i].rows[k].pass = i;
            out->each[at++] = &out->parts[i].rows[k];
        }
    qsort(out->each, rows, sizeof *out->each, by_key_and_pass);
    for (size_t i = 0, end; i < rows; i = end) {
        for (end = i + 1; end < rows && results_order(out->each[i], out->each[end]) == 0;) end++;
        out->sorted[out->count] = &out->rows[out->count];
        out->rows[out->count++] = merged(out->each + i, end - i);
    }
    return true;
}

/* The passes of a pool must come from one program and one version of the files that --load names,
 * on one machine. */
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
    bool same = of_a && of_b && strcmp(of_a, of_b) == 0 && a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = results_order(&a->rows[i], &b->rows[i]) == 0 && !(a->rows[i].ns < b->rows[i].ns) &&
               !(a->rows[i].ns > b->rows[i].ns); /* or both NAN */
    return same;
}

/* Does a file's checksum differ from the checksum in its facts? */
static bool changed(const results *one, const char *path) {
    const char *sum = results_fact(one, "crc");
    uint32_t crc = 0;
    char now[9] = "";
    if (sum && crc_file(&crc, path)) snprintf(now, sizeof now, "%08x", (unsigned)crc);
    return sum && strcmp(sum, now) != 0;
}

/* Leaves out passes that were cut off or changed, and copies of other passes. */
static void leave_out(results *pool, char *const *paths) {
    const size_t all = pool->part_count;
    size_t kept = 0;
    for (size_t i = 0; i < all; i++) {
        results *one = &pool->parts[i];
        bool left = *one->warning || !one->count || changed(one, paths[i]);
        for (size_t k = 0; k < kept; k++) left = left || is_copy(&pool->parts[k], one);
        if (!left) {
            pool->parts[kept++] = *one;
            continue;
        }
        results_free(one);
        snprintf(pool->warning, sizeof pool->warning,
                 "%zu of %zu passes are left out, as they are cut off, changed or copies; the "
                 "last: %.300s",
                 i + 1 - kept, all, paths[i]);
    }
    pool->part_count = kept;
}

bool pool_read(const char *folder, results *out, char *error, size_t error_size) {
    glob_t found = {0};
    const size_t count = files_in(folder, passes, &found);
    *out = (results){0};
    bool ok = count > 0 && count <= PASSES_MAX;
    if (!ok)
        snprintf(error, error_size,
                 "%s: %zu passes, FOLDER/PASS/bench.csv; from 1 to %d can be read", folder, count,
                 PASSES_MAX);
    out->parts = ok ? calloc(count, sizeof *out->parts) : NULL;
    if (ok && !out->parts) ok = false, snprintf(error, error_size, "%s: no memory", folder);
    for (size_t i = 0; ok && i < count; i++) {
        ok = results_read(found.gl_pathv[i], &out->parts[i], error, error_size);
        out->part_count += ok;
    }
    ok = ok && alike(out->parts, count, found.gl_pathv, error, error_size);
    if (ok) leave_out(out, found.gl_pathv);
    if (ok && !out->part_count) ok = false, snprintf(error, error_size, "%s", out->warning);
    if (ok && !merge(out)) ok = false, snprintf(error, error_size, "%s: no memory", folder);
    size_t fewer = 0;
    for (size_t i = 0; i < out->count; i++) fewer += out->rows[i].passes < out->part_count;
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
