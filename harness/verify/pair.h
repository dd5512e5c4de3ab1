/* Finds faults that one call does not show: a static buffer (two calls at once), a race, results of
 * an earlier call, rows that depend on their batch. SPDX-License-Identifier: MIT */
#pragma once

#include "verify/instance.h"

/* Is the kernel also called on two threads at once? Only added kernels are, on ordinary cases of
 * medium size: none of our own has a static buffer. */
bool pair_wanted(const instance *in);

/* A call that was made: the sizes of its buffers, and which buffers it may write. */
typedef struct pair_call {
    const instance *in;
    const bool *writable;
    const size_t *bytes;
    int threads;
} pair_call;

/* Calls the kernel on two threads at once. False: the numbers differ from those of a single
 * call. */
bool pair_agrees(const pair_call *s);

/* May a call be made again in its buffers? */
bool pair_again_wanted(const instance *in);

/* May a call of a kernel that uses threads be repeated? */
bool pair_repeat_wanted(const instance *in, int threads);

/* Repeats the call for a moment, since a race may show once in a hundred calls. Stops if the
 * outputs differ from the first ones, and leaves the differing outputs. */
void pair_repeat(const pair_call *s);

/* A kernel may keep results of an earlier call, and recognize the call by its addresses.
 * pair_stale() makes an earlier call, with another value in the middle of each row and of each
 * other input. `allow` makes the inputs writable, or not. */
bool pair_stale_wanted(const instance *in);
void pair_stale(const pair_call *s, void (*allow)(const instance *in, bool write));

/* Can the case show whether a row's y and dx have the same bits in every batch? Such a case has
 * several contiguous rows of random numbers, each normalized by itself, and a call overwrites no
 * input. */
bool batch_shows(const nl_case *c);

/* Runs in the process of the kernel, after its call. Computes single rows of the batch again, on
 * one thread, then its last two thirds; all at other addresses, some with other stores. `how`
 * describes the first number with other bits; "": there is none. */
void batch_compare(const pair_call *s, char *how, size_t size);
