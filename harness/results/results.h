/* Reads results: a CSV file of `normlab bench` or `check`, and the machine's facts beside it.
 * Strict, because nobody would notice a number that was read wrongly.
 * SPDX-License-Identifier: MIT */
#ifndef NL_RESULTS_H
#define NL_RESULTS_H

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
    char warning[512]; /* "", or that the last line was cut off and left out */
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

#endif
