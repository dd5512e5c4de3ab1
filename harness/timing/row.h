/* One row of results: an implementation on a case, its verdict and its timing.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/measure.h"
#include "verify/verify.h"

/* A timing. Ratios are of time over the baseline's: below 1 is faster. */
typedef struct timing {
    estimate ns; /* of one call */
    double ns_min;
    double limit_gbps, limit_pct; /* plain copying of the same buffers, in the same rounds */
    bool impossible;              /* beyond the limit by more than the noise */
    const char *baseline;
    estimate log_ratio;
    double band; /* of the baseline against itself, a log ratio */
    comparison verdict;
    size_t rounds, calls, rounds_to_go;
    const char *stopped;
} timing;

/* docs/results.md explains every column. */
typedef struct row {
    const nl_case *c;
    const char *impl, *isa;
    int threads;
    verdict v;
    bool timed, is_baseline;
    timing t;
    size_t scratch_bytes;
} row;

/* What a candidate is compared with: the baseline's repetition, and the fastest of the limits.
 * bytes: case_bytes(); margin: a log ratio. */
typedef struct yardstick {
    const char *baseline; /* its name */
    size_t again, limit,
        limits;     /* candidates: the repetition, the first limit; the number of limits */
    bool streaming; /* shows the last limit, which streams */
    double bytes, margin;
} yardstick;

timing timing_read(const measure *m, size_t candidate, const yardstick *by);
