/* 1 / sqrt three ways, over an array in the first-level cache: the processor's approximate
 * instruction, the same with a Newton step, and root and division. SPDX-License-Identifier: MIT */
#ifndef NL_RSQRT_H
#define NL_RSQRT_H

#include "base/stats.h"

#include <stdbool.h>
#include <stddef.h>

/* Log of the time of how ("instruction", "newton") over that of "true", and the band of "true" against
 * itself. False: why. */
bool rsqrt_race(const char *how, double seconds, estimate *ratio, double *band, size_t *rounds,
                char *why, size_t why_size);

/* The largest relative error in units of 2^-24 over [1, 4), where all that can happen does; NaN: there
 * is no such way here. */
double rsqrt_error(const char *how);

#endif
