/* Finds why an implementation failed a case: calls it again a few times, looks where its outputs
 * are wrong, and which known mistake gives the same numbers. SPDX-License-Identifier: MIT */
#ifndef NL_HINT_H
#define NL_HINT_H

#include "verify/answer.h"

typedef struct hint {
    char where[400];  /* "y is wrong in every element; mean is right"; empty: all right this time */
    char number[120]; /* "y[0][7] is 1.5, should be 2.5" */
    char cause[400];  /* or, if it is not known, what was tried */
    bool known;       /* is the cause known? */
} hint;

/* False: out of memory, or the call failed. */
bool hint_make(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               int threads, hint *out);

#endif
