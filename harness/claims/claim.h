/* Claims about the layers, read from files in the format of docs/claims.md.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "claims/quantity.h"
#include "timing/paper.h"

#include <stdio.h>

enum { SETTINGS_MAX = 24, CLAIM_TEXT = 400 };

typedef enum claim_verdict { SUPPORTED, REFUTED, EQUAL, UNRESOLVED, CLAIM_VERDICTS } claim_verdict;

/* "SUPPORTED", "REFUTED", "SAME", "NOT RESOLVED" */
const char *claim_verdict_name(claim_verdict v);

/* The claim holds if the figure lies between low and high or, if low equals high, within the margin
 * around this number. */
typedef struct predicate {
    double low, high;
} predicate;

/* A mode and a case in which a claim is measured. The first setting decides the claim's answer,
 * unless other settings lead to DEPENDS or NOT RESOLVED. */
typedef struct setting {
    char how[32], tail[200]; /* "simd", "forward/f32/64x1024/normal"; tail may be empty */
    figure f;
    claim_verdict verdict;
    bool measured; /* false: `why` has the reason */
    size_t passes; /* passes that give the figure; 0: not timed */
    char why[400];
} setting;

typedef struct claim {
    char name[64], text[CLAIM_TEXT], source[CLAIM_TEXT], why[CLAIM_TEXT];
    const quantity *q;
    const paper_row *paper; /* source of the predicate and the norm's share, or NULL */
    predicate expected;
    double margin, share; /* the norm's fraction of a step; 1: the norm alone */
    setting at[SETTINGS_MAX];
    size_t settings;
} claim;

/* Reads a claim and names it after the file. False: `error` describes the error and its line. */
bool claim_read(const char *path, claim *out, char *error, size_t error_size);

/* A NaN is never SUPPORTED, REFUTED or EQUAL. same: the figure that means no difference. */
claim_verdict claim_decide(estimate wide, predicate expected, double same, double margin);

bool setting_same_race(const setting *a, const setting *b);

/* The reason why a setting has no figure; "": it has a figure. */
const char *setting_why(const setting *s);

/* Does the reason say that the race could not run here? Such a race has not failed. */
bool claim_lacks(const char *why);

/* Is HOW a framework, which another program measures (evidence.h)? */
bool claim_is_elsewhere(const setting *s);

/* The outcome of a setting. docs/claims.md explains outcomes and answers. */
typedef enum claim_outcome {
    AS_CLAIMED,
    MORE,
    LESS,
    OTHER_WAY,
    NO_DIFFERENCE,
    OPEN, /* not resolved */
    NOT_RUN,
    CLAIM_OUTCOMES
} claim_outcome;

/* The answer to a claim, from the verdicts of its settings. */
typedef enum claim_answer {
    HOLDS,
    FAILS,
    DEPENDS, /* settings differ: in the claimed range, below it or above it */
    UNDECIDED,
    UNTRIED,
    FIRST_LOOK, /* the first setting was timed in fewer than PASSES_ENOUGH passes */
    CLAIM_ANSWERS
} claim_answer;

/* "as claimed", "more", "less", "the other way round", "no difference", "not resolved", "not run".
 * "more" and "less" compare distances from no difference: 3 % slower is less than 10 % slower. */
claim_outcome claim_outcome_of(const claim *c, const setting *s);
const char *claim_outcome_name(claim_outcome o);

/* "HOLDS", "FAILS", "DEPENDS", "NOT RESOLVED", "NOT RUN", "FIRST LOOK". */
claim_answer claim_answer_of(const claim *c);
const char *claim_answer_name(claim_answer a);

void claims_write_text(FILE *out, const claim *claims, size_t count);
void claims_write_csv(FILE *out, const claim *claims, size_t count);

/* Buffer sizes for claim_sentence() and claim_where(). */
enum { CLAIM_WORDS = 6500, CLAIM_WHERE = 320 };

/* Writes the answer to a claim as one sentence. */
void claim_sentence(const claim *c, char *text, size_t size);

/* Sets the caches of the machine that was measured, as in machine.txt: "L1 48K (cpus 0), L2 ...".
 * Default: the caches of this machine. */
void claim_caches(const char *caches);

/* "SIMD, 64 x 1024 in L2" */
void claim_where(const claim *c, const setting *s, char *text, size_t size);
