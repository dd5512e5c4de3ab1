/* Why is somebody's output wrong? Each known mistake is made on purpose, and the one that gives the
 * same numbers is the likely mechanism. SPDX-License-Identifier: MIT */
#ifndef NL_MECHANISM_H
#define NL_MECHANISM_H

#include "judge/formula.h"

typedef struct hypothesis {
    char name[24], text[96];
    bool fitted;    /* one free number, so that it explains more than it should */
    double removes; /* share of the rms error, 1: all of it; below 0: makes it worse */
    mismatch left;
    bool explains; /* removes at least MECHANISM_ENOUGH, and adds no NaN */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
enum { HYPOTHESES_MOST = 40 };

/* Tests every mistake that makes sense for the subject and changes something; best first, those
 * with a free number last among equals. False: out of memory. */
bool mechanism_test(const subject *s, hypothesis out[HYPOTHESES_MOST], size_t *count);

#endif
