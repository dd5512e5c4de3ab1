/* Reads the passes of a folder, FOLDER/PASS/bench.csv, as one file of results.
 * SPDX-License-Identifier: MIT */
#ifndef NL_POOL_H
#define NL_POOL_H

#include "base/stats.h"
#include "results/results.h"

/* Is it a folder of passes? */
bool pool_is(const char *path);

/* Sorts rows by case and implementation. Numbers are medians of the passes, which `each` has;
 * estimate_of_passes() gives the intervals. A row that failed in one pass has that verdict. False:
 * error says why, such as passes on different kernels or machines, and there is nothing to free.
 * Free with results_free(). */
bool pool_read(const char *folder, results *out, char *error, size_t error_size);

/* The logarithms of a pass: of the time, of the share of the limit, of the baseline's time over the
 * time. */
typedef enum pass_value { PASS_TIME, PASS_SHARE, PASS_SPEED } pass_value;

/* The middle of a row's passes. From three passes on the interval is stats_middle()'s; with fewer
 * it contains the intervals of their rounds. */
estimate estimate_of_passes(const result *row, pass_value what);

/* Standard deviations of the logarithm, medians over the rows: of a pass, estimated from its
 * rounds; and between passes. */
typedef struct pool_spread {
    double within, between;
} pool_spread;
pool_spread pool_spread_of(const results *pool, pass_value what);

#endif
