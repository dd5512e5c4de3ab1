/* Calls implementations in a child process, where they can do no harm: a crash, an endless loop or
 * an exit() of a kernel becomes a message about the case. SPDX-License-Identifier: MIT */
#pragma once

#include "verify/instance.h"

/* Shared memory of at least `bytes`, for one instance at a time; NULL: out of memory. */
arena *isolate_arena(size_t bytes);

/* Calls in->impl on its instance in a child process. The outputs come back only if the instance is
 * in the arena. Then the kernels in the table use two processes, one for our own and one for added
 * kernels, until a call fails. Every other call gets a fresh process. False: why describes what the
 * kernel did. */
bool isolate_call(const instance *in, int threads, char *why, size_t why_size);

/* If set, this function gets what a kernel prints, call by call, and printing is no failure. */
extern void (*isolate_heard)(const char *text);

/* What batch_compare() found in the last call; NULL: nothing was compared. */
const char *isolate_batch(void);

/* Number of threads of the last call's process, with those that OpenMP keeps. 0: unknown. */
int isolate_threads(void);

/* Runs the kernel's .scratch in a child and returns its answer; SIZE_MAX: it failed. */
size_t isolate_scratch(const nl_impl *impl, const nl_problem *p);

/* Ends the shared processes and frees the memory; call it before a measurement. */
void isolate_end(void);

/* Orphans are processes whose parent has ended. orphans_adopt(): from now on this process becomes
 * the parent of all orphans that descend from it. orphans_end() ends all its children. Except on
 * Linux, both do nothing. */
void orphans_adopt(void);
void orphans_end(void);
