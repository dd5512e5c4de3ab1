/* Quantities: the numbers that a claim can be about, timed, counted or computed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/figure.h"
#include "timing/fixture.h"
#include "timing/race.h"

/* The mode and case of a measurement. */
typedef struct question {
    race *by;               /* by->why gets the reason if it fails */
    const char *how, *tail; /* "simd", "forward/f32/64x1024/normal" */
    fixture *two[2];        /* of what is not timed: LayerNorm's and RMSNorm's */
} question;

/* same: the figure that means no difference, or NaN. A timed quantity has `race`, and `of`, which
 * converts its log ratio; any other has `get`, `alone` if it needs no fixtures, and `pass` if it is
 * about that pass only. Sentences are BEFORE figure AFTER; if RMSNorm needs more than LayerNorm,
 * NEEDS difference MORE, or NEEDS ratio TIMES. */
typedef struct quantity {
    const char *name, *unit, *about;
    double same;
    const char *before, *after, *needs, *more, *times;
    figure (*of)(double share, estimate log_ratio, double band);
    bool (*race)(const question *q, race_result *out);
    bool (*get)(const question *q, figure *out);
    bool alone;
    const char *pass;
} quantity;

extern const quantity quantities[];
extern const size_t quantities_count;
const quantity *quantity_find(const char *name);

/* What is not timed. */
bool quantity_compute(const quantity *of, question *q, figure *out);

/* Is it about the time of LayerNorm and RMSNorm? */
bool quantity_of_layers(const quantity *q);
