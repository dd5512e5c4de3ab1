/* Calls implementations in a child process, where they can do no harm: a crash, an endless loop or
 * an exit() of a kernel is a sentence about this case. SPDX-License-Identifier: MIT */
#ifndef NL_ISOLATE_H
#define NL_ISOLATE_H

#include "verify/instance.h"

/* Shared memory of at least so many bytes, for one instance at a time; NULL: out of memory. */
arena *isolate_arena(size_t bytes);

/* Calls in->impl on its instance, which then has the outputs if it lies in that memory, and is as
 * before if not. False: why says what the kernel did. In that memory our own kernels share a
 * process, until one of them ends it, and so do added ones; else each call gets a fresh one. */
bool isolate_call(const instance *in, int threads, char *why, size_t why_size);

/* Not NULL: what a kernel prints goes to it, call by call, and is no failure. */
extern void (*isolate_heard)(const char *text);

/* The threads of the process of the last call, which keeps those that OpenMP has started; counted
 * from outside. 0: unknown. */
int isolate_threads(void);

/* The scratch that the kernel wants, from a child that runs its .scratch; SIZE_MAX: it failed. */
size_t isolate_scratch(const nl_impl *impl, const nl_problem *p);

/* Ends the shared processes and frees the memory, as before a measurement. */
void isolate_end(void);

#endif
