/* The answer to a claim, from the verdicts of its settings. docs/claims.md explains the answers.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "claims/claim.h"

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

typedef enum claim_answer {
    HOLDS,
    FAILS,
    DEPENDS, /* settings lie on different sides of the claimed range */
    UNDECIDED,
    UNTRIED,
    FIRST_LOOK, /* the setting that the claim means was timed in fewer than PASSES_ENOUGH passes */
    CLAIM_ANSWERS
} claim_answer;

/* The outcome of a setting: "as claimed", "more", "less", "the other way round", "no difference",
 * "not resolved", "not run". More and less are distances from no difference: 3 % slower is less
 * than 10 % slower. */
claim_outcome claim_outcome_of(const claim *c, const setting *s);
const char *claim_outcome_name(claim_outcome o);

/* The answer to a claim: "HOLDS", "FAILS", "DEPENDS", "NOT RESOLVED", "NOT RUN", "FIRST LOOK". */
claim_answer claim_answer_of(const claim *c);
const char *claim_answer_name(claim_answer a);
