/* The child's side of an isolated call. SPDX-License-Identifier: MIT */
#pragma once

#include "platform/platform.h"
#include "tuning.h"
#include "verify/instance.h"

#include <stdbool.h>
#include <stddef.h>

/* The messages between parent and child, in shared memory. */
typedef struct call_record {
    nl_case c;
    nl_impl impl;
    instance in;
    bool writable[NL_ARGS + 1]; /* may the kernel write each buffer of the instance? */
    int threads;
    /* More calls: two at once (pairs); many of the same (repeats); some if memory grew (again); an
     * earlier call on other data in the same buffers (stale). */
    bool pairs, repeats, again, stale;
    bool own;     /* the kernel is in this program */
    bool batches; /* also compute parts of the batch */
    nl_tuning tuning;
    enum { REQUEST_CALL, REQUEST_SCRATCH, REQUEST_TURNS } request;
    size_t scratch_bytes;  /* the answer to REQUEST_SCRATCH */
    size_t bytes[NL_ARGS]; /* sizes of the buffers */

    enum { CALL_WAITS, CALL_RUNS, CALL_RETURNED } state;
    nl_status status;
    char message[256];
    bool forked, left_threads;
    char left[128];            /* another fault of the call, such as changed state; "": none */
    char batch[160];           /* batch_compare()'s answer */
    bool exited, ended_thread; /* ended the process by exit(), its thread by pthread_exit() */
    int signal, code;          /* the crash's signal (0: none) and code (SIGSYS: system call) */
    int access;                /* ACCESS_... */
    char *address, *stack;     /* the accessed address; the lowest byte of the stack */
    char *constants;           /* the problem and the arguments, as the kernel gets them */
} call_record;

/* A second guard lies above the stack, since buffers may follow: it catches writes far before
 * a buffer. */
enum {
    STACK_BYTES = 8 << 20,
    STACK_GUARD = 64 << 20,
    OUTPUT_MOST = 1 << 20,
    MEMORY_MOST = 1 << 30
};

/* Flags of the byte that begins a turn (REQUEST_TURNS): read the buffers first, so that they are in
 * the caches; call the kernel; spin for a moment before sleeping, which costs processor time and
 * saves elapsed time. */
enum { TURN_WARM = 1, TURN_CALLS = 2, TURN_SPINS = 4 };

/* Loads the library of a kernel in the child, and sets the kernel's functions. NULL: the parent has
 * them already. */
extern void (*worker_attach)(nl_impl *impl);

/* Reads the next byte from a line; with `spins` it spins before it sleeps. False: the line is
 * closed. */
bool worker_read(int line, unsigned char *byte, bool spins);

/* Zeroed memory that a process shares with its children; NULL: out of memory. */
void *worker_share(size_t bytes);

/* Fills the call record for a call of in->impl. */
void worker_fill(call_record *s, const instance *in, int threads);

/* Starts a process that runs worker_serve(). Returns the process's id, or 0. *line: the parent's
 * end of a socket. */
int worker_start(call_record *s, const int output[2], int *line);

/* Ends such a process and the processes that it has started; now: kills it at once. Sets *pid to
 * 0. Returns waitpid()'s status. */
int worker_stop(int *pid, int line, bool now);

/* Number of threads of such a process that run kernels; 0: unknown. pid 0: this process, even if
 * /proc shows other process ids. */
int worker_threads(int pid);

/* Serves calls: one for each byte from the line, answered by a byte. Never returns. output: the
 * files that kernels' stdout and stderr go to. */
_Noreturn void worker_serve(call_record *s, int line, const int output[2]);

/* worker_sandbox() calls sandbox_enter(), unless a sanitizer or a coverage build still has files to
 * write. worker_leave() ends the process without the exit handlers, which are the parent's. */
void worker_sandbox(void);
_Noreturn void worker_leave(int code);

/* Notes, before the first call, the state that surroundings_changed() compares: signals, limits,
 * output files, the processors of the thread. */
void surroundings_note(void);

/* Describes state that a call left changed and that would affect the next call; "": none. Our own
 * kernels make no system calls, so only their arithmetic is checked. */
const char *surroundings_changed(const instance *in, bool own);

/* Describes a crash: "wrote y[1024] of row 63: 1 element past its end". */
void crash_describe(const call_record *s, char *why, size_t why_size);

/* Describes how a process ended, with or without a noted crash; status: from waitpid(). */
void crash_describe_end(const call_record *shared, int status, char *why, size_t size);

/* A KERNEL gets SIGSYS if it starts or signals a process, opens a file for writing, changes a file
 * in another way, such as rename(), or uses the network. A COMPILER gets an error if it uses the
 * network or another process's memory. */
typedef enum sandbox_kind { SANDBOX_KERNEL, SANDBOX_COMPILER } sandbox_kind;

/* Sandboxes all threads of this process for good. Without libseccomp it does nothing. */
void sandbox_enter(sandbox_kind kind);

/* The name of the system call with this number. False: a build without libseccomp. */
bool sandbox_call(int number, char *name, size_t size);
