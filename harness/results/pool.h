/* Reads the passes of a folder, FOLDER/PASS/bench.csv, as one file of results.
 * SPDX-License-Identifier: MIT */
#ifndef NL_POOL_H
#define NL_POOL_H

#include "base/stats.h"
#include "results/results.h"

/* Is it a folder of passes? */
bool pool_is(const char *path);

/* Rows are sorted by case and implementation. A number is the median of the passes; `each` has the
 * passes of a row, and its intervals are what estimate_of_passes() says. A row that failed in one
 * pass has that verdict. False: error says why, and there is nothing to free; as where passes ran on
 * different kernels or machines. Ends with results_free(). */
bool pool_read(const char *folder, results *out, char *error, size_t error_size);

/* Logarithms, one a pass: of the time, of the share of the limit, of the baseline's time over it. */
typedef enum pass_value { PASS_TIME, PASS_SHARE, PASS_SPEED } pass_value;

/* The middle of a row's passes. From three on the interval is that of their middle, as in
 * stats_middle(); below, it holds what the rounds of each gave. */
estimate estimate_of_passes(const result *row, pass_value what);

/* Standard deviations of the logarithm: of a pass, by its rounds, and of passes among themselves.
 * Medians of the rows. */
typedef struct pool_spread {
    double within, between;
} pool_spread;
pool_spread pool_spread_of(const results *pool, pass_value what);

#endif
