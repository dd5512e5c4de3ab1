/* Races two ways to compute one result, or a norm and a proposed replacement, on one case.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/race.h"

/* Races the two rivals of `how`, "FIRST>SECOND", on a case; tail is the case without its layer.
 * False: r->why has the reason. */
bool rivals_race(race *r, const char *how, const char *tail, race_result *out);

/* "SECOND against FIRST" with readable names; NULL: there is no such pair. */
const char *rivals_words(const char *how);

/* Gets the name and description of rival i; false: i is too large. */
bool rivals_name(size_t i, const char **name, const char **words);

/* 1 / sqrt in three ways, over an array in the first-level cache: the processor's approximate
 * instruction, this instruction and a Newton step, or square root and division. */

/* Races `how` ("instruction", "newton") against "true" (square root and division). False: r->why
 * has the reason. */
bool rsqrt_race(race *r, const char *how, race_result *out);

/* The largest relative error over [1, 4), which represents all exponents, in units of 2^-24; NaN:
 * this build lacks `how`. */
double rsqrt_error(const char *how);
