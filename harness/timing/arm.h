/* Arms: the contenders of a measurement. SPDX-License-Identifier: MIT */
#ifndef NL_ARM_H
#define NL_ARM_H

#include "timing/fixture.h"
#include "timing/limit.h"
#include "timing/measure.h"

/* One call of an implementation on a fixture, or two calls, as forward and then backward. */
typedef struct arm {
    fixture *on[2]; /* the second may be NULL */
    const nl_impl *impl[2];
    int threads;
    bool unnamed;     /* calls nl_best(), which is impl */
    uint64_t hash[2]; /* of the arguments that were last found right */
    verdict after;    /* the first failure of a timed call's outputs */
    int which;        /* the call of the two that was verified last */
} arm;

/* The name of the implementation that an arm is calling; NULL: none. An exit handler reads it to
 * name the one that ended the process. */
extern const char *volatile arm_calls;

/* The machine's limit: reads every input of the case once and writes every output once, with hardly
 * any arithmetic: case_bytes(). */
typedef struct limit_arm {
    fixture *on;
    int threads;
    limit_way way;
} limit_arm;

/* Times short trials of each way to copy, on all threads and on one; the fastest becomes an arm.
 * Beyond a core's own caches, or if the case requests streaming, there are two arms, the fastest
 * with ordinary stores and the fastest that streams: a shared cache may hold less in the rounds
 * than in the trials. Returns the number of arms. */
size_t limit_arms_make(fixture *on, int threads, limit_arm arms[2]);

/* Verifies the arm on refilled buffers; returns the first failure. */
verdict arm_verify(arm *a);

/* For measure_run: every call gets the case's inputs, and after each round the arguments of the
 * last call, inputs included, are compared with the right ones. */
measure_arm arm_measured(arm *a);
measure_arm limit_arm_measured(limit_arm *a);

#endif
