/* Why is somebody's output wrong? Makes each known mistake on purpose; the one whose output comes
 * nearest is the likely mechanism. SPDX-License-Identifier: MIT */
#ifndef NL_MECHANISM_H
#define NL_MECHANISM_H

#include "judge/formula.h"

typedef struct hypothesis {
    char name[24], text[96];
    bool fitted;    /* has a free number, which explains some of any error */
    double removes; /* share of the rms error; 1: all of it; below 0: makes it larger */
    mismatch left;
    bool explains; /* removes at least MECHANISM_ENOUGH, and adds no NaN */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
enum { HYPOTHESES_MAX = 40 };

/* Tests every mistake that makes sense for the subject and changes its y. Best first; of those that
 * explain the error, fitted ones last. False: out of memory. */
bool mechanism_test(const subject *s, hypothesis out[HYPOTHESES_MAX], size_t *count);

#endif
