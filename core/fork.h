/* Do threads pay, here and now? That depends on how OpenMP's threads wait, and on what else runs,
 * so nl_best()'s forks are timed. Changes no bit: a threaded rung gives the same with any number.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "layer.h"

typedef struct nl_fork {
    int threads; /* in: what the call may have; out: one or all of them */
    struct nl_fork_times *at;
    double elements, begin;
} nl_fork;

/* Around a call on several threads. From NL_FORK_SURE elements on all are used and nothing is
 * timed: trying a large problem on one thread would be a long call, and on a busy machine a time
 * slice that a thread waits for is a small part of it. */
enum { NL_FORK_SURE = 1 << 24 };
void nl_fork_begin(nl_fork *f, const nl_problem *p);
void nl_fork_end(const nl_fork *f);

/* What nl_fork_end() does with the time of the call. */
void nl_fork_note(const nl_fork *f, double ns);
