/* Times an untrusted kernel against two of our rungs. Each contender runs on shared buffers in its
 * own process, which is stopped between calls. This process reads the clock and never calls the
 * kernel. Each call gets newly drawn inputs, and the reference on these inputs checks the kernel's
 * outputs. SPDX-License-Identifier: MIT */
#pragma once

#include "timing/bench.h"

typedef enum contender { MINE, FROM, TO, CONTENDERS } contender;

typedef struct contest {
    const nl_case *c;
    const nl_impl *impl[CONTENDERS]; /* if impl[TO] is NULL, the limit replaces it */
    int threads;
    double seconds; /* seconds of timing per contender */
    uint64_t seed;  /* seed of the data (random_seed) */
    bool (*interrupted)(void);
    /* Results. */
    verdict v; /* verdict on MINE; if it is not ok, t has no times */
    timing t[CONTENDERS];
} contest;

/* False: `error` has the reason. */
bool contest_run(contest *k, char *error, size_t error_size);
