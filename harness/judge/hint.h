/* Finds why an implementation failed a case: calls it again a few times, looks where its outputs
 * are wrong, and which known mistake gives the same numbers. SPDX-License-Identifier: MIT */
#ifndef NL_HINT_H
#define NL_HINT_H

#include "judge/mechanism.h"
#include "verify/answer.h"

typedef struct hint {
    char where[400];  /* "y is wrong in every element; mean is right"; empty: all right this time */
    char number[120]; /* "y[0][7] is 1.5, should be 2.5" */
    char cause[400];  /* or, if it is not known, what was tried */
    bool known;       /* is the cause known? */
    mechanism m;      /* m.likely: the mistakes that give the numbers; 0: the cause is no mistake */
} hint;

/* Of the likely mistakes keeps those that are likely in `other`, too. False: there are none. */
bool hint_narrow(hint *h, const hint *other);

/* The case with rows of so many features; false: it has no such spelling. */
bool hint_resize(const nl_case *c, size_t features, nl_case *out);

/* False: out of memory, or the call failed. */
bool hint_make(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               int threads, hint *out);

#endif
