/* Times the calls with impl NULL to find out whether threads pay. Results do not change: a threaded
 * rung gives the same bits with any number of threads. SPDX-License-Identifier: MIT */
#pragma once

#include "layer.h"

typedef struct nl_fork {
    int threads; /* in: the call's maximum; out: the same, or 1 */
    struct nl_fork_times *at;
    double elements, begin;
} nl_fork;

/* Called before and after a call on several threads. From NL_FORK_SURE elements on, all threads are
 * used and nothing is timed: a trial on one thread would take long, and waiting for a busy CPU is a
 * small part of so long a call. */
enum { NL_FORK_SURE = 1 << 24 };
void nl_fork_begin(nl_fork *f, const nl_problem *p);
void nl_fork_end(const nl_fork *f);

/* Like nl_fork_end(), but records `ns` instead of the measured time. */
void nl_fork_note(const nl_fork *f, double ns);
