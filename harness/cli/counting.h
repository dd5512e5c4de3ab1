/* Counts instead of timing: valgrind's callgrind counts the instructions and simulated cache misses
 * of one call. The counts are equal on all machines that run the same binary.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

/* The cost of one call on warm caches: instructions, and misses of the first and the last cache. */
typedef struct counted {
    double instructions, first, last;
} counted;

/* Cycles by the estimate of callgrind's authors: 1 per instruction, 10 per miss of the first cache,
 * 100 per miss of the last cache. */
double counted_cost(counted k);

/* Is valgrind installed? */
bool counting_works(void);

/* The widest instruction set that valgrind simulates and this machine runs. */
const char *counting_isa(void);

/* Verifies an implementation of the table or, if `library` is not NULL, of that library; then
 * counts one call. The kernel runs without a sandbox. False: `error` has the reason. */
bool counting_run(const char *library, const char *impl, const char *isa, const nl_case *c,
                  counted *out, char *error, size_t size);

/* Like counting_run(), for a kernel file, which is first compiled for counting_isa(). */
bool counting_file(const char *file, const nl_case *c, counted *out, char *error, size_t size);

/* Like counting_run(), for the named rung on counting_isa(), or in plain C. */
bool counting_rung(const char *name, const nl_case *c, counted *out, char *error, size_t size);

/* Is the implementation right on this case? Runs outside valgrind, whose long double is double. */
bool counting_right(const nl_impl *impl, const nl_case *c, char *error, size_t size);

/* Runs under valgrind: calls the implementation twice; only the second call is counted. */
bool counting_calls(const nl_impl *impl, const nl_case *c, char *error, size_t size);
