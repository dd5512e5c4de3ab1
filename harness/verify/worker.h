/* The child's side of an isolated call. SPDX-License-Identifier: MIT */
#ifndef NL_WORKER_H
#define NL_WORKER_H

#include "tuning.h"
#include "verify/instance.h"
#include "verify/seal.h"

/* What parent and child tell each other, in memory that they share. */
typedef struct slip {
    nl_case c;
    nl_impl impl;
    instance in;
    bool writable[NL_ARGS + 1]; /* by the kernel: each buffer of the instance */
    int threads;
    nl_tuning tuning;

    enum { SLIP_WAITS, SLIP_RUNS, SLIP_RETURNED } state;
    nl_status status;
    char message[256];
    bool forked, left_threads;
    char left[128];            /* what else the call left changed, "": nothing */
    bool exited, ended_thread; /* by exit(), by pthread_exit() */
    int signal, code;          /* of the crash, 0: none; of SIGSYS: the system call */
    enum { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE, ACCESS_JUMP } access;
    char *address, *stack; /* where it was; the lowest byte of the stack, below it a guard */
    char *constants;       /* the problem and the arguments, as the kernel gets them */
} slip;

/* The second guard, above the stack, is for writes far before a buffer: buffers may lie there. */
enum {
    STACK_BYTES = 8 << 20,
    STACK_GUARD = 64 << 20,
    OUTPUT_MOST = 1 << 20,
    MEMORY_MOST = 1 << 30
};

/* Serves calls: one for each byte from the line, with a byte back after each. Never returns. What
 * kernels print on stdout and stderr goes to these files. */
_Noreturn void worker_serve(slip *s, int line, const int output[2]);

/* seal(), unless a sanitizer or a coverage build still has files to write. And ends the process
 * without the exit handlers, which are the parent's. */
void worker_seal(seal_kind kind);
_Noreturn void worker_leave(int code);

#endif
