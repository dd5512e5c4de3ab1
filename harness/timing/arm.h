/* Arms: what takes turns in a measurement. SPDX-License-Identifier: MIT */
#ifndef NL_ARM_H
#define NL_ARM_H

#include "timing/fixture.h"
#include "timing/limit.h"

/* A call of an implementation on a fixture, or two calls, as forward and then backward. */
typedef struct arm {
    fixture *on[2]; /* the second may be NULL */
    const nl_impl *impl[2];
    int threads;
} arm;

/* The machine's limit on the buffers of a fixture: it reads what the case reads and writes what the
 * case writes. */
typedef struct limit_arm {
    const fixture *on;
    int threads;
    limit_store store;
} limit_arm;

/* Copying what is too large for a cache may be faster past it: picks the faster store. */
limit_arm limit_arm_make(const fixture *on, int threads);

/* What it moves in one call. */
size_t limit_arm_bytes(const fixture *on);

/* One call, for a measure_arm whose context is an arm, or a limit_arm. */
void arm_call(void *context, size_t turn);
void limit_arm_call(void *context, size_t turn);

#endif
