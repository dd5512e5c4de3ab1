/* 1 / sqrt in three ways, over an array in the first-level cache: the processor's approximate
 * instruction, that and a Newton step, and square root and division.
 * SPDX-License-Identifier: MIT */
#ifndef NL_RSQRT_H
#define NL_RSQRT_H

#include "timing/race.h"

/* Races `how` ("instruction", "newton") against "true", square root and division. False: r->why
 * says why. */
bool rsqrt_race(race *r, const char *how, race_result *out);

/* The largest relative error over [1, 4), which stands for all exponents, in units of 2^-24; NaN:
 * this build has no such way. */
double rsqrt_error(const char *how);

#endif
