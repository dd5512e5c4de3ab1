/* Times several candidates against each other. Candidates take turns in rounds, in the order of a
 * Latin square: every candidate is in every position equally often, unless one square takes too
 * long. Each block of rounds draws a new square. All candidates make the same number of calls per
 * round. So a slow moment of the machine, a warm cache or other processes affect all candidates
 * alike, and ratios within a round are meaningful. SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"

#include <stdint.h>

typedef struct measure_candidate {
    void (*call)(void *context, size_t turn); /* turn: number of earlier calls of all candidates */
    void *context;
    /* Untimed functions, or NULL. before() runs before every call, and restores inputs or flushes
     * the caches; after() runs after the last call of each round or trial, whose outputs are still
     * in place. */
    void (*before)(void *context), (*after)(void *context);
    /* An untimed function, or NULL; runs before the first call of a round or a trial. */
    void (*begin)(void *context, size_t calls);
} measure_candidate;

typedef enum stopped { STOPPED_PRECISE, STOPPED_TIME, STOPPED_INTERRUPTED } stopped;

typedef struct measure {
    /* What to measure. */
    const measure_candidate *candidates;
    size_t count, baseline;
    double seconds;            /* for all candidates together; a minimum of rounds always runs */
    double precision;          /* stop when every ratio's interval is within +- this (0.01: 1 %) */
    uint64_t seed;             /* seed of the candidates' orders */
    double (*clock)(void);     /* in ns */
    bool (*interrupted)(void); /* or NULL */
    /* Results. */
    double *ns;           /* [rounds][count]: nanoseconds of one call */
    size_t *position;     /* [rounds][count]: position in the round */
    size_t rounds, calls; /* calls: number of calls of each candidate in a round */
    stopped stopped;
    double reading; /* ns of reading the clock, subtracted if calls are timed singly */
} measure;

/* False: out of memory. Free with measure_free. */
bool measure_run(measure *m);
void measure_free(measure *m);

/* A first guess of the nanoseconds of one call, from a few calls after an untimed call. */
double measure_trial(const measure_candidate *candidate, double (*clock)(void));

/* The fewest rounds whose intervals, for `count` candidates, leave out the extreme rounds. */
size_t measure_min_rounds(size_t count);

/* Medians over the rounds: the time of one call in ns; and log(time of a / time of b). */
estimate measure_time(const measure *m, size_t candidate);
estimate measure_ratio(const measure *m, size_t a, size_t b);

/* The quiet rounds of a and b: those in which both together took least time, a tenth of all rounds
 * but at least three.
 * Other work on the core slows two loops differently, for many rounds, so the median ratio changes
 * from process to process; the ratio in quiet rounds changes less. */
typedef struct quiet_rounds {
    double log_time, log_ratio; /* means over these rounds: of log(b's time), and of log(a / b) */
} quiet_rounds;
quiet_rounds measure_quiet(const measure *m, size_t a, size_t b);

const char *stopped_name(stopped s);
