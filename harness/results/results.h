/* Reads results: a CSV file of `normlab bench` or `check`, and the machine's facts beside it.
 * Strict, because nobody would notice a number that was read wrongly.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"

#include <stdbool.h>
#include <stddef.h>

/* A row, as far as the comparison needs it. Missing text is "", a missing number NAN. */
typedef struct result {
    size_t line;                       /* of the file, from 1 */
    const char *spelling, *impl, *isa; /* spelling: of the case */
    int threads;                       /* with the three above: the key */
    const char *verdict, *data, *flag, *comparison, *baseline;
    double ns, ns_low, ns_high;                /* of one call: positive, low <= ns <= high */
    double limit_pct, aa_band;                 /* aa_band: relative, 0.004 is 0.4 % */
    double speedup, speedup_low, speedup_high; /* the baseline's time over this one */
    double n, c, s, bytes;
    const struct result **each; /* of a pool: its passes; else NULL */
    size_t passes, pass;        /* how many; which one this is */
} result;

typedef struct fact {
    const char *key, *value;
} fact;

typedef struct results {
    result *rows; /* in the order of the file */
    size_t count;
    fact *facts; /* in the order of x.machine.txt; none when there is no such file */
    size_t fact_count;
    char warning[512]; /* "", or what is left out: a last line, or passes, cut off */
    result **sorted;   /* by key */
    char *text, *facts_text;
    struct results *parts; /* of a pool: the passes */
    size_t part_count;
    const result **each; /* their rows, by key */
} results;

/* False: error is "file:line: what is wrong and what to do", and there is nothing to free. A last
 * line without a newline is left out: the run was cut off there, perhaps within a number. */
bool results_read(const char *path, results *out, char *error, size_t error_size);
void results_free(results *r);

/* Orders two rows by key. */
int results_order(const result *a, const result *b);

/* The row with the key of `like`, which may come from another file; NULL: none. */
const result *results_find(const results *r, const result *like);

/* The first value of a key, as "cpu"; NULL: none. */
const char *results_fact(const results *r, const char *key);

/* Were two result files measured alike? */

/* Do processor, caches and architecture agree? If not, why says what differs or is unknown. */
bool facts_one_machine(const results *file, char why[200]);

/* The facts that differ, as lines of text, which the caller frees; NULL: none. Leaves out the date,
 * which always differs, and the doctor's count of findings, which repeats them. */
char *facts_differing(const results *file);

/* Compares two result files row by row. The interval of a ratio spans the far ends of the two rows'
 * 95 % intervals, so it is wider than needed. */

/* The rows with one key; a or b is NULL if that file has none. */
typedef struct row_pair {
    const result *a, *b;
    bool refused;   /* cannot be compared; why says why */
    bool relative;  /* in passes: compares each time over its baseline's */
    bool no_band;   /* an A/A band is missing; the margin is used for it */
    estimate ratio; /* log of B over A, times or shares of the limit; NAN if refused */
    double band;    /* a log; NAN if refused */
    comparison verdict;
    char why[200];
} row_pair;

/* Pairs every row of A with B's, then lists the rows that only B has. margin: a log ratio. shares:
 * compare shares of each machine's limit instead of times. */
void compare_results(const results file[2], bool shares, double margin,
                     void (*take)(void *context, const row_pair *pair), void *context);

/* Reads the passes of a folder, FOLDER/PASS/bench.csv, as one file of results. */

/* Is it a folder of passes? */
bool pool_is(const char *path);

/* Sorts rows by case and implementation. Numbers are medians of the passes, which `each` has;
 * estimate_of_passes() gives the intervals. A row that failed in any pass has the verdict fail.
 * Leaves out passes that are cut off, and copies. False: error says why, such as passes on
 * different kernels or machines, and there is nothing to free. Free with results_free(). */
bool pool_read(const char *folder, results *out, char *error, size_t error_size);

/* What to read of a pass, as a logarithm: the time, the share of the limit, or the baseline's time
 * over the time. */
typedef enum pass_value { PASS_TIME, PASS_SHARE, PASS_SPEED } pass_value;

/* The middle of a row's passes. From three passes on the interval is stats_middle()'s; with fewer
 * passes it contains the intervals of their rounds. */
estimate estimate_of_passes(const result *row, pass_value what);

/* Standard deviations of log(time) within a pass, estimated from its rounds, and between passes;
 * medians over the rows. */
typedef struct pool_spread {
    double within, between;
} pool_spread;
pool_spread pool_spread_of(const results *pool, pass_value what);
