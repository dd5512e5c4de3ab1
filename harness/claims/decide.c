/* From a measurement to a verdict. SPDX-License-Identifier: MIT */
#include "claims/claims.h"

#include <math.h>
#include <string.h>

const char *claim_verdict_name(claim_verdict v) {
    static const char *const names[] = {"SUPPORTED", "REFUTED", "SAME", "NOT RESOLVED"};
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

/* exp(r) is RMSNorm's time over LayerNorm's. */
static double convert(const quantity *q, double share, double r) {
    return strcmp(q->name, "saving") == 0 ? -100 * share * expm1(r) : exp(-r);
}

static estimate turned(const quantity *q, double share, estimate r, double band) {
    return (estimate){convert(q, share, r.median), convert(q, share, r.high + band),
                      convert(q, share, r.low - band)};
}

figure claim_figure(const quantity *q, double share, estimate log_ratio, double band) {
    figure f = {turned(q, share, log_ratio, 0), turned(q, share, log_ratio, band), 0, 0};
    f.band = (f.wide.high - f.wide.low - (f.value.high - f.value.low)) / 2;
    return f;
}

void claim_flips(const claim *c, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int v = SUPPORTED; v <= UNRESOLVED; v++) {
        const char *before = NULL;
        for (size_t i = 1; i < c->settings && used < size; i++) {
            const setting *s = &c->at[i];
            if (!s->known || (int)s->verdict != v || s->verdict == c->at[0].verdict) continue;
            if (!before)
                used += (size_t)snprintf(text + used, size - used, "%s%s:", used ? "; " : "",
                                         claim_verdict_name(s->verdict));
            if (used >= size) break;
            used += (size_t)snprintf(text + used, size - used, "%s %s%s%s", before ? "," : "",
                                     s->how, *s->tail ? " on " : "", s->tail);
            before = s->how;
        }
    }
}
