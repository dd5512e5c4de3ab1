/* Decides the verdict of a measurement. docs/claims.md explains the verdicts.
 * SPDX-License-Identifier: MIT */
#ifndef NL_VERDICT_H
#define NL_VERDICT_H

#include "base/stats.h"

typedef enum claim_verdict { SUPPORTED, REFUTED, EQUAL, UNRESOLVED, CLAIM_VERDICTS } claim_verdict;

/* "SUPPORTED", "REFUTED", "SAME", "NOT RESOLVED" */
const char *claim_verdict_name(claim_verdict v);

/* The claim holds if the figure lies from low to high; if low == high, within the margin of it. */
typedef struct predicate {
    double low, high;
} predicate;

/* A NaN is never SUPPORTED, REFUTED or EQUAL. same: the figure that means no difference. */
claim_verdict claim_decide(estimate wide, predicate expected, double same, double margin);

#endif
