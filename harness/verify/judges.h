/* Processes that verify the cases of a suite side by side; their verdicts come in the order of the
 * cases. SPDX-License-Identifier: MIT */
#ifndef NL_JUDGES_H
#define NL_JUDGES_H

#include "verify/check.h"

#include <stdio.h>
#include <sys/types.h>

enum { JUDGES_MAX = 8 };

typedef struct judges {
    int count; /* 0: this process verifies */
    pid_t pid[JUDGES_MAX];
    FILE *from[JUDGES_MAX];
} judges;

/* Starts one for each processor that this process may use; judge k of n takes every n-th case. The
 * functions of `settings` run in both processes: selects() there, the others here. */
void judges_start(judges *j, const nl_case *cases, size_t count,
                  check_settings (*settings)(void *context, const nl_case *c), void *context);

/* As check_case(), with what the judge of case i says; each case once, in order. */
bool judges_hear(judges *j, size_t i, const nl_case *c, const check_settings *o, char *error,
                 size_t error_size);

void judges_end(judges *j);

#endif
