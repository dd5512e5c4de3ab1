/* Times an untrusted kernel beside rungs of ours. Each runs on shared buffers in a process of its
 * own, which is stopped between its calls; this process reads the clock and never calls the kernel.
 * Each call gets newly drawn inputs, and its outputs are compared with the reference of these.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/bench.h"

typedef enum contender { MINE, FROM, TO, CONTENDERS } contender;

typedef struct contest {
    const nl_case *c;
    const nl_impl *impl[CONTENDERS]; /* TO NULL: the limit takes its place */
    int threads;
    double seconds; /* of timing per contender */
    uint64_t seed;  /* of the data (random_seed) */
    bool (*interrupted)(void);
    /* What came out. */
    verdict v; /* of MINE; if it is not ok, nothing was timed */
    timing t[CONTENDERS];
} contest;

/* False: error says why. */
bool contest_run(contest *k, char *error, size_t error_size);
