/* Compares two result files row by row. The interval of a ratio spans the far ends of the two rows'
 * 95 % intervals, so it is wide, and certainly wide enough. SPDX-License-Identifier: MIT */
#ifndef NL_COMPARISON_H
#define NL_COMPARISON_H

#include "base/stats.h"
#include "results/results.h"

/* The rows with one key; a or b is NULL if that file has none. */
typedef struct row_pair {
    const result *a, *b;
    bool refused;   /* cannot be compared; why says why */
    bool relative;  /* of passes: compares times over the baseline's */
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

#endif
