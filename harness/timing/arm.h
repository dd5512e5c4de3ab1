/* Arms: the contenders of a measurement. SPDX-License-Identifier: MIT */
#ifndef NL_ARM_H
#define NL_ARM_H

#include "timing/fixture.h"
#include "timing/limit.h"

/* One call of an implementation on a fixture, or two calls, as forward and then backward. */
typedef struct arm {
    fixture *on[2]; /* the second may be NULL */
    const nl_impl *impl[2];
    int threads;
} arm;

/* The machine's limit: copies between the tensors that the case reads and writes. */
typedef struct limit_arm {
    const fixture *on;
    int threads;
    limit_store store;
} limit_arm;

/* Streaming stores may copy large buffers faster: times both stores and picks the faster. */
limit_arm limit_arm_make(const fixture *on, int threads);

/* The bytes it moves in one call. */
size_t limit_arm_bytes(const fixture *on);

/* Functions for a measure_arm; context is an arm, or a limit_arm. */
void arm_call(void *context, size_t turn);
void limit_arm_call(void *context, size_t turn);

#endif
