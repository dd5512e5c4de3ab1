/* Why are somebody's outputs wrong? Makes each known mistake on purpose; the one whose outputs come
 * nearest is the likely mechanism. SPDX-License-Identifier: MIT */
#ifndef NL_MECHANISM_H
#define NL_MECHANISM_H

#include "judge/mistakes.h"
#include "judge/where.h"

typedef struct hypothesis {
    char name[24], text[96];
    int order;      /* in the list of mistakes: the simpler ones first */
    bool fitted;    /* has a free number, which explains some of any error */
    double removes; /* share of the rms error; 1: all of it; below 0: makes it larger */
    mismatch left;
    bool explains; /* removes MECHANISM_ENOUGH, or gives half of the wrong numbers; adds no NaN */
    bool wholly;   /* and leaves no more than rounding may cost */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
/* Below the rms of rounding itself, so most numbers equal the formula's bit for bit. Then half is
 * enough: mistakes in rounding to 16 bits are small. */
#define MECHANISM_EQUAL 0.25
/* Any float LayerNorm makes errors up to this; they need no explanation. */
#define MECHANISM_FEW_UNITS 8.0

enum { HYPOTHESES_MAX = MISTAKES_MAX };

#define ONLY_THERE "only there: "

/* What was tried, best first; of those that explain the error equally, fitted ones last. */
typedef struct mechanism {
    hypothesis found[HYPOTHESES_MAX];
    size_t count, likely; /* likely: so many of the first, which the data cannot tell apart, simpler
                             ones first */
    const char *prefix;   /* "", or "only there: ": in the wrong region; or in the output alone that
                           the region is of */
} mechanism;

/* Tests every mistake that may concern the subject and changes its outputs. If none explains the
 * error wholly: then in the wrong region only, then in its output only; unless wrong is NULL. False:
 * out of memory. */
bool mechanism_find(const subject *s, const region *wrong, mechanism *out);

/* "A", or "either A, or B (these data cannot tell)"; empty if nothing is likely. */
void mechanism_text(const mechanism *m, char *text, size_t size);

#endif
