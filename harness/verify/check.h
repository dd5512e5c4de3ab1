/* Verifies the implementations of one case, each twice: with guard pages at the ends of its
 * buffers, then at their starts. SPDX-License-Identifier: MIT */
#pragma once

#include "verify/verify.h"

#include <stdio.h>
#include <sys/types.h>

/* Threads, and callbacks, to which the context is passed. */
typedef struct check_settings {
    int threads;
    bool model; /* also verify a model's own output, where the data have one */
    void *context;
    bool (*selects)(void *context, const nl_impl *impl, const nl_case *c);
    /* Gets the verdict on both calls; impl NULL: on a model's own output. */
    void (*judged)(void *context, const nl_case *c, const nl_impl *impl, const verdict *v);
    /* Gets the verdict on each of the two calls; or NULL. False: out of memory. */
    bool (*noted)(void *context, const nl_case *c, const nl_impl *impl, const verdict *v);
} check_settings;

/* False: error says why. */
bool check_case(const nl_case *c, const check_settings *o, char *error, size_t error_size);

/* Processes that verify the cases of a suite side by side; their verdicts come in the order of the
 * cases. */

enum { CHECKERS_MAX = 8 };

typedef struct checkers {
    int count; /* 0: this process verifies */
    pid_t pid[CHECKERS_MAX];
    FILE *from[CHECKERS_MAX];
} checkers;

/* Starts one for each processor that this process may use; checker k of n takes every n-th case. Of
 * the functions of `settings`, selects() runs in the child, the others in this process. */
void checkers_start(checkers *j, const nl_case *cases, size_t count,
                    check_settings (*settings)(void *context, const nl_case *c), void *context);

/* As check_case(), with what the checker of case i says; each case once, in order. */
bool checkers_next(checkers *j, size_t i, const nl_case *c, const check_settings *o, char *error,
                   size_t error_size);

void checkers_end(checkers *j);
