/* From a measurement to a verdict. docs/claims.md has the meaning of the verdicts.
 * SPDX-License-Identifier: MIT */
#ifndef NL_VERDICT_H
#define NL_VERDICT_H

#include "base/stats.h"

typedef enum claim_verdict { SUPPORTED, REFUTED, EQUAL, UNRESOLVED, CLAIM_VERDICTS } claim_verdict;

/* "SUPPORTED", "REFUTED", "SAME", "NOT RESOLVED" */
const char *claim_verdict_name(claim_verdict v);

/* What the figure has to be for the claim to hold: low to high; where they are equal, that number
 * within the claim's margin. */
typedef struct predicate {
    double low, high;
} predicate;

/* Never SUPPORTED, REFUTED or EQUAL with a NaN. same: the figure at which there is no difference. */
claim_verdict claim_decide(estimate wide, predicate says, double same, double margin);

#endif
