/* Why are somebody's outputs wrong? Makes each known mistake on purpose; the one whose outputs come
 * nearest is the likely mechanism. SPDX-License-Identifier: MIT */
#ifndef NL_MECHANISM_H
#define NL_MECHANISM_H

#include "judge/mistakes.h"

typedef struct hypothesis {
    char name[24], text[96];
    bool fitted;    /* has a free number, which explains some of any error */
    double removes; /* share of the rms error; 1: all of it; below 0: makes it larger */
    mismatch left;
    bool explains; /* removes MECHANISM_ENOUGH, and adds no NaN */
    bool wholly;   /* and leaves no more than rounding may cost */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
/* Below the rms of rounding itself, so most numbers equal the formula's bit for bit. Then half is
 * enough: mistakes in rounding to 16 bits are small. */
#define MECHANISM_EQUAL 0.25
/* Any float LayerNorm makes errors up to this; they need no explanation. */
#define MECHANISM_FEW_UNITS 8.0

enum { HYPOTHESES_MAX = MISTAKES_MAX };

/* Tests every mistake that may concern the subject and changes its outputs. Best first; of those
 * that explain the error equally, fitted ones last. False: out of memory. */
bool mechanism_test(const subject *s, hypothesis out[HYPOTHESES_MAX], size_t *count);

/* Counts the first ones about as good as the best, which the data cannot tell apart. */
size_t mechanism_likely(const hypothesis *found, size_t count);

#endif
