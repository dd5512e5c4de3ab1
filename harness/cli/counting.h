/* Speed counted instead of timed: the instructions and simulated cache misses of one call, by
 * valgrind's callgrind, the same on every machine that runs the same binary.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

/* What one call on warm caches takes: instructions, and misses of the first and the last cache. */
typedef struct counted {
    double instructions, first, last;
} counted;

/* Cycles as callgrind's authors estimate them: one an instruction, ten a miss of the first cache, a
 * hundred a miss of the last. */
double counted_cost(counted k);

/* Is the tool installed? */
bool counting_works(void);

/* The widest instruction set that the tool simulates and this machine runs. */
const char *counting_isa(void);

/* Counts a call of an implementation of the table, or of `library` unless that is NULL. The kernel
 * runs without a sandbox. False: error says why. */
bool counting_run(const char *library, const char *impl, const char *isa, const nl_case *c,
                  counted *out, char *error, size_t size);

/* Does what counting_run() does for a kernel file, which it compiles for counting_isa(). */
bool counting_file(const char *file, const nl_case *c, counted *out, char *error, size_t size);

/* Does what counting_run() does for the rung of that name on counting_isa(), or in plain C. */
bool counting_rung(const char *name, const nl_case *c, counted *out, char *error, size_t size);

/* Runs in the process that is counted: calls the implementation twice; the second call counts. */
bool counting_calls(const nl_impl *impl, const nl_case *c, char *error, size_t size);
