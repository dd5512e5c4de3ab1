/* Races two ways to compute one result, or a norm and a proposed replacement, on one case.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/race.h"

/* Races the two of `how`, "FIRST>SECOND", on a case; tail is the case without its layer. False:
 * r->why says why. */
bool rivals_race(race *r, const char *how, const char *tail, race_result *out);

/* "SECOND against FIRST" in people's words; NULL: there is no such pair. */
const char *rivals_words(const char *how);

/* Name and words of rival i; false: there are fewer. */
bool rivals_name(size_t i, const char **name, const char **words);

/* 1 / sqrt in three ways, over an array in the first-level cache: the processor's approximate
 * instruction, that and a Newton step, and square root and division. */

/* Races `how` ("instruction", "newton") against "true", square root and division. False: r->why
 * says why. */
bool rsqrt_race(race *r, const char *how, race_result *out);

/* The largest relative error over [1, 4), which stands for all exponents, in units of 2^-24; NaN:
 * this build has no such way. */
double rsqrt_error(const char *how);
