/* Processes that verify the cases of a suite side by side; their verdicts come in the order of the
 * cases. SPDX-License-Identifier: MIT */
#ifndef NL_CHECKERS_H
#define NL_CHECKERS_H

#include "verify/check.h"

#include <stdio.h>
#include <sys/types.h>

enum { CHECKERS_MAX = 8 };

typedef struct checkers {
    int count; /* 0: this process verifies */
    pid_t pid[CHECKERS_MAX];
    FILE *from[CHECKERS_MAX];
} checkers;

/* Starts one for each processor that this process may use; checker k of n takes every n-th case.
 * The functions of `settings` run in both processes: selects() there, the others here. */
void checkers_start(checkers *j, const nl_case *cases, size_t count,
                    check_settings (*settings)(void *context, const nl_case *c), void *context);

/* As check_case(), with what the checker of case i says; each case once, in order. */
bool checkers_next(checkers *j, size_t i, const nl_case *c, const check_settings *o, char *error,
                   size_t error_size);

void checkers_end(checkers *j);

#endif
