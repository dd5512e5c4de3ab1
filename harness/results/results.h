/* Reads results: a CSV file of `normlab bench` or `check`, and the machine's facts beside it. The
 * reader is strict, because nobody would notice a number that was read wrongly.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"

#include <stdbool.h>
#include <stddef.h>

/* A row: the fields that the comparison needs. Missing text is "", a missing number NAN. */
typedef struct result {
    size_t line;                       /* line of the file, from 1 */
    const char *spelling, *impl, *isa; /* spelling: the case as text */
    int threads;                       /* spelling, impl, isa and threads: the key */
    const char *verdict, *data, *flag, *comparison, *baseline;
    double ns, ns_low, ns_high;                /* time of one call: positive, low <= ns <= high */
    double limit_pct, aa_band;                 /* aa_band: relative, 0.004 is 0.4 % */
    double speedup, speedup_low, speedup_high; /* the baseline's time over this row's time */
    double quiet_ns, quiet_speedup; /* in quiet rounds: the baseline's time; the speedup */
    double n, c, s, bytes;
    const struct result **each; /* in a pool: the passes of a row, or the processes of a pass */
    size_t passes, pass;        /* number of rows in `each`; index of this row's pass */
} result;

typedef struct fact {
    const char *key, *value;
} fact;

typedef struct results {
    result *rows; /* in the order of the file */
    size_t count;
    fact *facts; /* in the order of x.machine.txt; none when there is no such file */
    size_t fact_count;
    char warning[512]; /* "", or which data are missing: a last line, processes, rows */
    result **sorted;   /* the rows by key */
    char *text, *facts_text;
    struct results *parts; /* the processes of a pool */
    size_t part_count, passes;
    const result **each; /* by key: the rows of the processes, then those of the passes */
    result *by_pass;     /* rows of the passes */
} results;

/* False: error is "file:line: description and advice", and there is nothing to free. A last line
 * without a newline is left out, because the run was cut off there, perhaps within a number. */
bool results_read(const char *path, results *out, char *error, size_t error_size);
void results_free(results *r);

/* Orders two rows by key. */
int results_order(const result *a, const result *b);

/* The row with the same key as `like`, a row that may come from another file; NULL: none. */
const result *results_find(const results *r, const result *like);

/* The first value of a key such as "cpu"; NULL: none. */
const char *results_fact(const results *r, const char *key);

/* Do processor, caches and architecture agree? If false, `why` names differing or unknown facts. */
bool facts_one_machine(const results *file, char why[200]);

/* The facts that differ, as lines of text; the caller frees the text; NULL: none. Leaves out date
 * and checksum, which always differ, and the doctor's count, which repeats the findings. */
char *facts_differing(const results *file);

/* Compares two result files row by row. The interval of a ratio spans the far ends of both rows'
 * 95 % intervals, so it is wider than necessary; for two pools stats_difference() computes it. */

/* The rows with one key; a or b is NULL if its file has no such row. */
typedef struct row_pair {
    const result *a, *b;
    size_t cases;   /* 0: one row; else how many cases an implementation's mean covers */
    bool refused;   /* cannot be compared, for the reason in `why` */
    bool relative;  /* both are pools: compares their ratios to the baseline */
    bool no_band;   /* an A/A band is missing; the margin replaces it */
    estimate ratio; /* log of B over A, times or shares of the limit; NAN if refused */
    double band;    /* a log; NAN if refused */
    comparison verdict;
    char why[200];
} row_pair;

/* Calls take() with each row of A and its counterpart in B, then with rows that only B has, and for
 * two pools with each implementation's mean over its cases. margin: a log ratio. shares: compares
 * shares of each machine's limit instead of times. */
void compare_results(const results file[2], bool shares, double margin,
                     void (*take)(void *context, const row_pair *pair), void *context);

/* Reads the passes of a folder as one file of results. A pass is a folder with a file for each of
 * its processes, FOLDER/PASS/bench-1.csv and so on. */

/* Is the path a folder of passes? */
bool pool_is(const char *path);

/* Sorts rows by case and implementation. Numbers are medians over the passes, and a pass's numbers
 * are medians over its processes. A pass's quiet_speedup is the mean over the processes whose
 * baseline took at most 2 % longer than in the fastest process, in quiet rounds. A row that failed
 * in any process has the verdict fail. Leaves out files that are cut off or changed, and copies.
 * Free with results_free(). False: nothing to free; error has the reason, such as passes on
 * different kernels or machines. */
bool pool_read(const char *folder, results *out, char *error, size_t error_size);

/* A logarithm from each pass: of the time, of the share of the limit, or of the speedup, in all
 * rounds or in quiet rounds. */
typedef enum pass_value { PASS_TIME, PASS_SHARE, PASS_SPEED, PASS_QUIET } pass_value;

/* The middle of a row's passes. With three passes or more, stats_middle() gives the interval; with
 * fewer passes, the interval contains each pass's own interval. */
estimate estimate_of_passes(const result *row, pass_value what);

/* Medians over the rows. within, between: the standard deviation between the processes of a pass,
 * and between passes. count: how many processes of a pass are used (PASS_QUIET: the quiet ones). */
typedef struct pool_spread {
    double within, between, count;
} pool_spread;
pool_spread pool_spread_of(const results *pool, pass_value what);
