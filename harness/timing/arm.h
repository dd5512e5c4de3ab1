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
    int which;        /* of the two calls was last verified */
} arm;

/* The name of the implementation that an arm calls; NULL: none. For who has to say which one ended
 * the process. */
extern const char *volatile arm_calls;

/* The machine's limit: reads every input of the case once and writes every output once, with hardly
 * any arithmetic: case_bytes(). */
typedef struct limit_arm {
    fixture *on;
    int threads;
    limit_way way;
} limit_arm;

/* Times short trials of each way to copy, on all threads and on one; the fastest becomes an arm.
 * Beyond a core's own caches, or if the case asks for streaming, the fastest with ordinary stores
 * and the fastest that streams: the rounds decide between them, for a cache that is shared with
 * others may hold in a trial what it then does not. Returns how many. */
size_t limit_arms_make(fixture *on, int threads, limit_arm arms[2]);

/* Verifies the arm on refilled buffers; the first failure. */
verdict arm_verify(arm *a);

/* For measure_run: every call sees the inputs as the case states them, and what each round's last
 * call leaves, inputs included, is compared with what was right. */
measure_arm arm_measured(arm *a);
measure_arm limit_arm_measured(limit_arm *a);

#endif
