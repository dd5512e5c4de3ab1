/* How this thread computes in floating point. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Does it round to nearest in full precision, without flushing subnormals, and without traps? */
bool arithmetic_is_usual(void);
void arithmetic_restore(void);

/* The message about a kernel that changes these settings. */
#define ARITHMETIC_CHANGED                                                                 \
    "left floating-point arithmetic changed: the rounding mode, the precision, traps, or " \
    "subnormals taken for zero"
