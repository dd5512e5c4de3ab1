/* Times the implementations of one case: verify, time, verify again.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/measure.h"
#include "verify/verify.h"

/* A timing. Ratios are time over the baseline's time: below 1 is faster. */
typedef struct timing {
    estimate ns; /* time of one call */
    double ns_min;
    double limit_gbps, limit_pct; /* the limit's speed; the limit's time over this time */
    bool impossible;              /* faster than the limit by more than the noise */
    const char *baseline;
    estimate log_ratio;
    quiet_rounds quiet;
    double band; /* band of the baseline against itself, a log ratio */
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

/* What a candidate is compared with: the baseline's repetition, and the limits. bytes:
 * case_bytes(); margin: a log ratio. */
typedef struct yardstick {
    const char *baseline; /* its name */
    size_t again, limit,
        limits;     /* indices of the repetition and of the first limit; number of limits */
    bool streaming; /* compare with the last limit, which streams, not with the fastest */
    double bytes, margin;
} yardstick;

timing timing_read(const measure *m, size_t candidate, const yardstick *by);

/* One candidate in one round. */
typedef struct bench_round {
    const nl_case *c;
    const char *impl, *isa; /* "(baseline again)", "(limit)", "(streaming limit)" */
    int threads;
    size_t round, position, calls;
    double ns;
} bench_round;

/* The measurement's parameters, and callbacks for the results, which get the context. */
typedef struct bench_settings {
    double seconds;   /* seconds of timing per implementation */
    double precision; /* stop when every interval's half-width is below this fraction */
    double margin;    /* margin of SAME, a fraction */
    int threads;      /* unless the case names a number */
    void *context;
    bool (*selects)(void *context, const nl_impl *impl, const nl_case *c);
    /* Is the implementation timed through nl_forward(NULL, ...)? NULL: none is. */
    bool (*unnamed)(void *context, const nl_impl *impl);
    /* NULL: the baseline is the naive rung or, if absent, the first implementation. */
    bool (*is_baseline)(void *context, const nl_impl *impl, const nl_case *c);
    void (*row)(void *context, const row *line);
    void (*round)(void *context, const bench_round *r); /* or NULL */
    void (*note)(void *context, const char *text);      /* a warning; or NULL */
} bench_settings;

/* Reports a row for each wanted implementation: skipped, failed before or after the timing, or
 * timed. False: `error` has the reason. */
bool bench_case(const nl_case *c, const bench_settings *o, char *error, size_t error_size);
