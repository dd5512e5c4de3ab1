/* SPDX-License-Identifier: MIT */
#include "results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True: the rows cannot be compared, for the reason in `why`. */
static bool refusal(const result *a, const result *b, bool shares, char why[200]) {
    const result *both[] = {a, b};
    if (!a || !b) return snprintf(why, 200, "only in %c", a ? 'A' : 'B'), true;
    for (int i = 0; i < 2 && !*why; i++) {
        const result *r = both[i];
        if (strcmp(r->verdict, "ok") != 0 && strcmp(r->verdict, "demo") != 0)
            snprintf(why, 200, "the verdict of %c is %s", "AB"[i], r -> verdict);
        else if (strstr(r->flag, "IMPOSSIBLE"))
            snprintf(why, 200, "%c is flagged %.60s", "AB"[i], r -> flag);
        else if (isnan(r->ns))
            snprintf(why, 200, "%c was not timed", "AB"[i]);
        else if (isnan(r->ns_low) || isnan(r->ns_high))
            snprintf(why, 200, "%c has no interval: too few rounds", "AB"[i]);
        else if (shares && isnan(r->limit_pct))
            snprintf(why, 200, "%c has no limit_pct", "AB"[i]);
    }
    const struct {
        const char *name;
        double a, b;
    } sizes[] = {{"n", a->n, b->n},
                 {"c", a->c, b->c},
                 {"s", a->s, b->s},
                 {"bytes", a->bytes, b->bytes}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !*why; i++)
        if (sizes[i].a < sizes[i].b || sizes[i].a > sizes[i].b) /* false if a or b is NAN */
            snprintf(why, 200, "%s differs: %.0f in A, %.0f in B", sizes[i].name, sizes[i].a,
                     sizes[i].b);
    if (!*why && *a->data && *b->data && strcmp(a->data, b->data) != 0)
        snprintf(why, 200, "data differs: %.60s in A, %.60s in B", a->data, b->data);
    return *why;
}

/* The log of the time, or of the time over the limit's time. */
static estimate log_of(const result *r, bool shares) {
    double unit = shares ? log(r->limit_pct) + log(r->ns) - log(100) : 0;
    return (estimate){log(r->ns) - unit, log(r->ns_low) - unit, log(r->ns_high) - unit};
}

/* Can ratios to the baseline be compared? They vary least: row and baseline take turns. */
static bool is_relative(const result *a, const result *b, bool shares) {
    const bool baseline = strcmp(a->comparison, "baseline") == 0;
    return !shares && !baseline && *a->baseline && strcmp(a->baseline, b->baseline) == 0;
}

/* Adds the logarithm that a row has in each pass. */
static void add_passes(double v[PASSES_MAX], const result *r, bool shares, bool relative) {
    for (size_t i = 0; i < r->passes; i++) {
        const result *one = r->each[i];
        v[i] += shares ? -log(one->limit_pct) : relative ? -log(one->quiet_speedup) : log(one->ns);
    }
}

/* The interval comes from the differences between the passes of each side. */
static estimate ratio_of_passes(const result *a, const result *b, bool shares, bool relative) {
    double v[2][PASSES_MAX] = {{0}};
    add_passes(v[0], a, shares, relative), add_passes(v[1], b, shares, relative);
    return stats_difference(v[0], a->passes, v[1], b->passes);
}

static row_pair compare_rows(const result *a, const result *b, bool shares, double margin) {
    row_pair p = {.a = a, .b = b, .ratio = {NAN, NAN, NAN}, .band = NAN};
    p.refused = refusal(a, b, shares, p.why);
    if (p.refused) return p;
    estimate x = log_of(a, shares), y = log_of(b, shares);
    p.ratio = (estimate){y.median - x.median, y.low - x.high, y.high - x.low};
    p.no_band = isnan(a->aa_band) || isnan(b->aa_band);
    p.band = log1p(fmax(a->aa_band, b->aa_band));
    if (p.no_band) p.band = fmax(p.band, margin);
    if (a->passes > 1 && b->passes > 1) {
        p.relative = is_relative(a, b, shares);
        p.ratio = ratio_of_passes(a, b, shares, p.relative), p.band = 0, p.no_band = false;
    }
    if (isnan(p.ratio.median)) {
        snprintf(p.why, sizeof p.why, "a pass lacks its speedup");
        p.refused = true, p.band = NAN;
    }
    p.verdict = stats_verdict(p.ratio, p.band, margin);
    return p;
}

static bool of_one_impl(const result *a, const result *b) {
    return strcmp(a->impl, b->impl) == 0 && strcmp(a->isa, b->isa) == 0 && a->threads == b->threads;
}

/* B's row for row x of A, if x has the implementation of row a, and all passes have both rows. */
static const result *other_of(const results file[2], const result *a, const result *x, bool shares,
                              double margin) {
    const result *y = of_one_impl(a, x) ? results_find(&file[1], x) : NULL;
    return y && !compare_rows(x, y, shares, margin).refused && x->passes == file[0].passes &&
                   y->passes == file[1].passes
               ? y
               : NULL;
}

/* Compares the implementation of row `first` over its cases: a pass's value is the mean over its
 * rows, so noise that changes from case to case is smaller. Compares shares or times, or ratios to
 * the baseline if all rows have such ratios. False: fewer than two rows are left, or the
 * implementation has an earlier row. */
static bool compare_cases(const results file[2], size_t first, bool shares, double margin,
                          row_pair *out) {
    const result *a = &file[0].rows[first], *end = &file[0].rows[file[0].count], *y;
    double v[2][PASSES_MAX] = {{0}};
    *out = (row_pair){.a = a, .b = results_find(&file[1], a), .relative = true};
    for (const result *x = file[0].rows; x < a; x++)
        if (of_one_impl(a, x)) return false;
    for (const result *x = a; x < end; x++)
        if ((y = other_of(file, a, x, shares, margin)))
            out->cases++, out->relative &= is_relative(x, y, shares);
    if (out->cases < 2) return false;
    for (const result *x = a; x < end; x++)
        if ((y = other_of(file, a, x, shares, margin)))
            add_passes(v[0], x, shares, out->relative), add_passes(v[1], y, shares, out->relative);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < file[side].passes; i++) v[side][i] /= (double)out->cases;
    out->ratio = stats_difference(v[0], file[0].passes, v[1], file[1].passes);
    out->verdict = stats_verdict(out->ratio, out->band, margin);
    return true;
}

void compare_results(const results file[2], bool shares, double margin,
                     void (*take)(void *context, const row_pair *pair), void *context) {
    row_pair all;
    for (size_t i = 0; i < file[0].count; i++) {
        const result *a = &file[0].rows[i];
        row_pair p = compare_rows(a, results_find(&file[1], a), shares, margin);
        take(context, &p);
    }
    for (size_t i = 0; i < file[1].count; i++) {
        const result *b = &file[1].rows[i];
        if (results_find(&file[0], b)) continue;
        row_pair p = compare_rows(NULL, b, shares, margin);
        take(context, &p);
    }
    for (size_t i = 0; file[0].passes > 1 && file[1].passes > 1 && i < file[0].count; i++)
        if (compare_cases(file, i, shares, margin, &all)) take(context, &all);
}

bool facts_one_machine(const results *file, char why[200]) {
    static const char *const keys[] = {"cpu", "caches", "kernel"};
    bool known = false;
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        const char *value[2];
        for (int side = 0; side < 2; side++) {
            value[side] = results_fact(&file[side], keys[i]);
            if (!value[side])
                return snprintf(why, 200, "The machine of %c is not known (no %s in .machine.txt)",
                                "AB"[side], keys[i]),
                       false;
            const char *space = strrchr(value[side], ' ');
            if (i == 2 && space) value[side] = space + 1; /* x86_64 of "Linux 6.1.0 x86_64" */
        }
        known |= i < 2 && strcmp(value[0], "unknown") != 0;
        if (strcmp(value[0], value[1]) != 0)
            used += (size_t)snprintf(why + used, 200 - used, "%s%s",
                                     used ? ", " : "The machines differ in ",
                                     i == 2 ? "architecture" : keys[i]);
    }
    if (!known) snprintf(why, 200, "It is not known whether this is one machine");
    return known && !used;
}

/* Does the file have this fact? Any two good findings of the doctor count as equal. */
static bool holds(const results *file, const fact *f) {
    for (const fact *e = file->facts; e < file->facts + file->fact_count; e++) {
        if (strcmp(e->key, f->key) != 0) continue;
        if (strcmp(e->value, f->value) == 0) return true;
        if (strncmp(f->key, "doctor ", 7) == 0 && strncmp(f->value, "good ", 5) == 0 &&
            strncmp(e->value, "good ", 5) == 0)
            return true;
    }
    return false;
}

/* Prints the values of a key that only one file has. */
static void list_differing(FILE *out, const results *file, int side, const char *key) {
    for (size_t i = 0; i < file[side].fact_count; i++) {
        const fact *f = &file[side].facts[i];
        if (strcmp(f->key, key) == 0 && !holds(&file[!side], f))
            fprintf(out, "  %-18s %c: %s\n", key, side ? 'B' : 'A', f->value);
    }
}

char *facts_differing(const results *file) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int side = 0; out && side < 2; side++)
        for (size_t i = 0; i < file[side].fact_count; i++) {
            const fact *f = &file[side].facts[i];
            bool listed = strcmp(f->key, "date") == 0 || strcmp(f->key, "doctor") == 0 ||
                          strcmp(f->key, "crc") == 0 || (side && results_fact(file, f->key));
            for (const fact *e = file[side].facts; e < f && !listed; e++)
                listed = strcmp(e->key, f->key) == 0;
            if (listed) continue;
            list_differing(out, file, 0, f->key);
            list_differing(out, file, 1, f->key);
        }
    if (out) fclose(out);
    if (size > 0) return text;
    free(text);
    return NULL;
}
