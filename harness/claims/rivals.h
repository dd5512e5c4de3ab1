/* Two ways to do the same, or what was proposed instead, raced on one case.
 * SPDX-License-Identifier: MIT */
#ifndef NL_RIVALS_H
#define NL_RIVALS_H

#include "timing/race.h"

/* how: "FIRST>SECOND", two names; tail: a case without its layer. False: r->why says why. */
bool rivals_race(race *r, const char *how, const char *tail, race_result *out);

/* "SECOND against FIRST" in people's words; NULL: there is no such pair. */
const char *rivals_words(const char *how);

/* Name and words of rival i; false: there are fewer. */
bool rivals_name(size_t i, const char **name, const char **words);

#endif
