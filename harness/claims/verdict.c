/* SPDX-License-Identifier: MIT */
#include "claims/verdict.h"

#include <math.h>

const char *claim_verdict_name(claim_verdict v) {
    static const char *const names[CLAIM_VERDICTS] = {"SUPPORTED", "REFUTED", "SAME",
                                                      "NOT RESOLVED"};
    return names[v];
}

claim_verdict claim_decide(estimate wide, predicate says, double same, double margin) {
    double low = wide.low, high = wide.high;
    if (isnan(wide.median) || !(low <= high)) return UNRESOLVED;
    if (low >= same - margin && high <= same + margin) return EQUAL; /* false where same is NaN */
    if (says.low == says.high) says.low -= margin, says.high += margin;
    if (low >= says.low && high <= says.high) return SUPPORTED;
    if (high < says.low || low > says.high) return REFUTED;
    return UNRESOLVED;
}
