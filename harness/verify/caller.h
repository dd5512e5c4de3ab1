/* A process that calls one kernel on one set of buffers repeatedly, and is stopped between the
 * calls. The parent reads the clock, where the kernel cannot reach it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "verify/worker.h"

typedef struct caller {
    call_record *record;
    int pid, line; /* pid 0: the process has ended */
    int threads;   /* number of threads that a call may use */
    bool by_clock; /* measure elapsed time instead of processor time */
    char why[320]; /* why the process ended */
} caller;

/* Starts the process for in->impl, on the buffers of *in, which lie in shared memory. False: out of
 * memory. */
bool caller_start(caller *k, const instance *in, int threads, bool by_clock);

/* caller_ready() runs the process up to the call; with TURN_WARM it reads the buffers first.
 * caller_call() runs the call (without TURN_CALLS: none), stops the process, and sets *ns: elapsed
 * time if by_clock, otherwise processor time, since other programs may run too. False: why
 * describes what the kernel did. */
bool caller_ready(caller *k, int turn);
bool caller_call(caller *k, double *ns);

void caller_stop(caller *k);
