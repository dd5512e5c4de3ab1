/* Finds why somebody's outputs are wrong: makes each known mistake on purpose; the one whose
 * outputs come nearest is the likely mechanism. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/families.h"
#include "judge/where.h"

typedef struct hypothesis {
    char name[32], text[96];
    int order;      /* in the list of mistakes: the simpler ones first */
    bool fitted;    /* has a free number, which explains some of any error */
    double removes; /* its share of the rms error; 1: all; below 0: it makes the error larger */
    mismatch left;
    bool explains; /* removes MECHANISM_ENOUGH, or gives half of the wrong numbers; adds no NaN */
    bool wholly;   /* explains, and leaves no more than rounding may cost */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
#define MECHANISM_PARTLY 0.6 /* if nothing explains more */
/* If this rms or less is left, most numbers equal the formula's bit for bit, and removing half is
 * enough: mistakes in rounding to 16 bits are small. */
#define MECHANISM_EQUAL 0.25
/* Any float LayerNorm makes errors up to this; they need no explanation. */
#define MECHANISM_FEW_UNITS 8.0

enum { HYPOTHESES_MAX = MISTAKES_MAX };

#define ONLY_THERE "only there: "

/* The hypotheses tried, best first; among equals, fitted ones last. */
typedef struct mechanism {
    hypothesis found[HYPOTHESES_MAX];
    size_t count, likely; /* likely: how many of the first the data cannot tell apart */
    const char *prefix; /* ""; "only there: ", tested in the wrong region; or words for one output,
                           tested in it alone */
} mechanism;

/* Gets the progress of a long search; or NULL. */
extern void (*mechanism_progress)(size_t done, size_t total, const char *what);

/* Tests every mistake that may concern the subject and changes its outputs. If no mistake explains
 * the whole error and wrong is not NULL, tests again in the wrong region only, then in its output
 * only. False: out of memory. */
bool mechanism_find(const subject *s, const region *wrong, mechanism *out);

/* "A", or "either A, or B (these data cannot tell)"; empty if nothing is likely. */
void mechanism_text(const mechanism *m, char *text, size_t size);
