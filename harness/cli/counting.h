/* Speed counted instead of timed: the instructions and simulated cache misses of one call, by
 * valgrind's callgrind, the same on every machine that runs the same binary.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

/* Of one call on warm caches: instructions, and misses of the first and the last cache. */
typedef struct counted {
    double instructions, first, last;
} counted;

/* Instructions and ten for each miss of the first cache, a hundred for each of the last: the
 * cycles that callgrind's authors estimate. */
double counted_cost(counted k);

/* Is the tool installed? */
bool counting_works(void);

/* The widest instruction set that the tool simulates and this machine runs. */
const char *counting_isa(void);

/* Counts a call of an implementation of the table, or of `library` unless that is NULL. The kernel
 * runs without a sandbox. False: error says why. */
bool counting_run(const char *library, const char *impl, const char *isa, const nl_case *c,
                  counted *out, char *error, size_t size);

/* As counting_run(), of a kernel file, which is compiled for counting_isa(). */
bool counting_file(const char *file, const nl_case *c, counted *out, char *error, size_t size);

/* As counting_run(), of the rung of that name on counting_isa(), or in plain C. */
bool counting_rung(const char *name, const nl_case *c, counted *out, char *error, size_t size);

/* In the process that is counted: calls the implementation twice, of which the second counts. */
bool counting_calls(const nl_impl *impl, const nl_case *c, char *error, size_t size);
