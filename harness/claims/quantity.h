/* Quantities: what a claim can be about, timed, counted or computed.
 * SPDX-License-Identifier: MIT */
#ifndef NL_QUANTITY_H
#define NL_QUANTITY_H

#include "claims/verdict.h"
#include "timing/figure.h"
#include "timing/fixture.h"

/* Which mode and case is asked about, and where an answer that cannot be had says why. */
typedef struct question {
    fixtures *all;
    const char *how, *tail; /* "simd", "forward/f32/64x1024/normal" */
    double seconds;
    char *why;
    size_t why_size;
} question;

/* same: the figure at which there is no difference, NaN where that means nothing. of: what is made of
 * a race's log ratio, in a mode and on a case without its layer; else get. */
typedef struct quantity {
    const char *name, *unit, *about;
    double same;
    figure (*of)(double share, estimate log_ratio, double band);
    bool (*get)(const question *q, figure *out);
} quantity;

extern const quantity quantities[];
extern const size_t quantities_count;
const quantity *quantity_find(const char *name);

#endif
