/* The child's side of an isolated call. SPDX-License-Identifier: MIT */
#ifndef NL_WORKER_H
#define NL_WORKER_H

#include "tuning.h"
#include "verify/instance.h"

/* What parent and child tell each other, in memory that they share. */
typedef struct slip {
    nl_case c;
    nl_impl impl;
    instance in;
    bool writable[NL_ARGS + 1]; /* by the kernel: each buffer of the instance */
    int threads;
    bool pairs, repeats; /* two calls at once, too; many calls */
    nl_tuning tuning;
    enum { ASKS_CALL, ASKS_SCRATCH, ASKS_TURNS } asks;
    size_t scratch_bytes;  /* the answer to ASKS_SCRATCH */
    size_t bytes[NL_ARGS]; /* of the buffers, for ASKS_TURNS */

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

/* A byte that begins a turn (ASKS_TURNS): whether the buffers are read first, so that they are in
 * the caches, whether the kernel is called, and whether the process looks for the signal for a
 * moment before it sleeps, which takes processor time but less of the clock's. */
enum { TURN_WARM = 1, TURN_CALLS = 2, TURN_LOOKS = 4 };

/* Where the functions of a kernel are not in the process that asks: gives it those of a library
 * that this process loads. NULL: they are. */
extern void (*worker_attach)(nl_impl *impl);

/* The next byte from a line, which is looked for before it is slept for, or not. False: there is no
 * more. */
bool worker_hear(int line, unsigned char *byte, bool looks);

/* Memory of zeros that a process shares with its children; NULL: out of memory. */
void *worker_share(size_t bytes);

/* The slip for a call of in->impl. */
void worker_fill(slip *s, const instance *in, int threads);

/* Starts a process that serves. Returns its id, or 0, and the parent's end of its line. */
int worker_start(slip *s, const int output[2], int *line);

/* The threads of such a process that run kernels, counted from outside; 0: unknown. */
int worker_threads(int pid);

/* Serves calls: one for each byte from the line, with a byte back after each. Never returns. What
 * kernels print on stdout and stderr goes to these files. */
_Noreturn void worker_serve(slip *s, int line, const int output[2]);

/* seal(), unless a sanitizer or a coverage build still has files to write. And ends the process
 * without the exit handlers, which are the parent's. */
void worker_seal(void);
_Noreturn void worker_leave(int code);

#endif
