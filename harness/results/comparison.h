/* Two result files, row by row. Each row's interval already holds the truth 95 times in 100, and the
 * ratio's is taken from their far ends: wide, and sure to be wide enough.
 * SPDX-License-Identifier: MIT */
#ifndef NL_COMPARISON_H
#define NL_COMPARISON_H

#include "base/stats.h"
#include "results/results.h"

/* Rows of one key; a or b is NULL where that file has none. */
typedef struct row_pair {
    const result *a, *b;
    bool refused;   /* they cannot be compared: why says why */
    bool unbanded;  /* a baseline's band against itself is missing: the margin stands for it */
    estimate ratio; /* of times, or of shares of the limit, B over A; a log; NAN if refused */
    double band;    /* a log; NAN if refused */
    comparison verdict;
    char why[200];
} row_pair;

/* margin: a log ratio. shares: compares shares of each machine's limit, not times. */
row_pair compare_rows(const result *a, const result *b, bool shares, double margin);

/* Every row of A beside B's, then those that only B has. */
void compare_results(const results file[2], bool shares, double margin,
                     void (*take)(void *context, const row_pair *pair), void *context);

#endif
