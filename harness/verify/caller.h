/* A process that calls one kernel on one set of buffers, again and again, and is stopped in
 * between. The clock is read here, where the kernel cannot reach it. SPDX-License-Identifier: MIT */
#ifndef NL_CALLER_H
#define NL_CALLER_H

#include "verify/worker.h"

typedef struct caller {
    slip *paper;
    int pid, line; /* pid 0: it has ended */
    int threads;   /* that a call may use */
    bool by_clock; /* the time on the wall, as where others use several threads */
    char why[320]; /* what ended it */
} caller;

/* For in->impl, on the buffers of *in, which lie in shared memory. False: out of memory. */
bool caller_start(caller *k, const instance *in, int threads, bool by_clock);

/* Lets it go on, up to the moment before the call; with TURN_WARM it reads the buffers. Then the
 * time of the call, in ns, of which one that uses a single thread has processor time, since others
 * may use the machine as well; and then it is stopped. Without TURN_CALLS, the time of a call that does
 * nothing. False, in both: why says what the kernel did. */
bool caller_ready(caller *k, int turn);
bool caller_call(caller *k, double *ns);

void caller_stop(caller *k);

#endif
