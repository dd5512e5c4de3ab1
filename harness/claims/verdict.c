/* SPDX-License-Identifier: MIT */
#include "claims/verdict.h"

#include <math.h>

const char *claim_verdict_name(claim_verdict v) {
    static const char *const names[CLAIM_VERDICTS] = {"SUPPORTED", "REFUTED", "SAME",
                                                      "NOT RESOLVED"};
    return names[v];
}

claim_verdict claim_decide(estimate wide, predicate expected, double same, double margin) {
    double low = wide.low, high = wide.high;
    if (isnan(wide.median) || !(low <= high)) return UNRESOLVED;
    if (low >= same - margin && high <= same + margin) return EQUAL; /* false where same is NaN */
    if (expected.low == expected.high) expected.low -= margin, expected.high += margin;
    if (low >= expected.low && high <= expected.high) return SUPPORTED;
    if (high < expected.low || low > expected.high) return REFUTED;
    return UNRESOLVED;
}
