/* How stable are the answers? Draws three passes repeatedly, and compares their answers with those
 * of the other passes. SPDX-License-Identifier: MIT */
#ifndef NL_STABILITY_H
#define NL_STABILITY_H

#include "claims/evidence.h"

typedef struct stability {
    size_t draws, rest;      /* draws of three passes; the number of the other passes */
    double contradicted_pct; /* the share of intervals that the other passes contradict */
    size_t answers, differ;  /* claims that both sides decide; those decided differently */
} stability;

/* Writes a table of the races. False: out of memory, or fewer than twice
 * PASSES_ENOUGH passes. */
bool stability_write(FILE *out, const evidence *e, claim *claims, size_t count, stability *found);

/* Standard deviations of the log of a ratio: by the rounds of a process, of the passes of a
 * sitting, of sittings, of all passes. NaN: too few. */
typedef struct noise {
    double rounds, passes, sittings, all;
} noise;

/* In the median of the races; without `all`. */
noise noise_of(const evidence *e);

#endif
