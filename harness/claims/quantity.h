/* Quantities: the numbers that a claim can be about, timed, counted or computed.
 * SPDX-License-Identifier: MIT */
#ifndef NL_QUANTITY_H
#define NL_QUANTITY_H

#include "timing/figure.h"
#include "timing/fixture.h"
#include "timing/race.h"

/* The mode and case of a measurement; why gets the reason if it fails. */
typedef struct question {
    fixtures *all;
    const char *how, *tail; /* "simd", "forward/f32/64x1024/normal" */
    double seconds;
    char *why;
    size_t why_size;
} question;

/* same: the figure that means no difference, or NaN. A timed quantity has `race`, and `of`, which
 * converts its log ratio; any other has `get`. Sentences are BEFORE figure AFTER; if RMSNorm needs
 * more than LayerNorm, NEEDS difference MORE, or NEEDS ratio TIMES. */
typedef struct quantity {
    const char *name, *unit, *about;
    double same;
    const char *before, *after, *needs, *more, *times;
    figure (*of)(double share, estimate log_ratio, double band);
    bool (*race)(const question *q, race_result *out);
    bool (*get)(const question *q, figure *out);
} quantity;

extern const quantity quantities[];
extern const size_t quantities_count;
const quantity *quantity_find(const char *name);

/* Is it about the time of LayerNorm and RMSNorm? */
bool quantity_of_layers(const quantity *q);

#endif
