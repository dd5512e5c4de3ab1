/* Quantities: the numbers that a claim can be about, timed, counted or computed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/race.h"
#include "timing/fixture.h"

/* The mode and case of a measurement. */
typedef struct question {
    race *by;               /* by->why gets the reason if it fails */
    const char *how, *tail; /* "simd", "forward/f32/64x1024/normal" */
    fixture *two[2];        /* LayerNorm's and RMSNorm's, if nothing is timed */
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

/* Computes a quantity that is not timed. */
bool quantity_compute(const quantity *of, question *q, figure *out);

/* Is it about the time of LayerNorm and RMSNorm? */
bool quantity_of_layers(const quantity *q);

/* What it costs in accuracy to fold a part of a norm into the neighbouring weights, or to keep y
 * instead of x for backward. Only stored values are rounded, to the case's type; everything is
 * computed in double. */

/* The rms error of W * xhat with the gain folded into W, over that of W * (gain * xhat): all of W,
 * gain and the norm's output are stored. W is N(0, 1 / c), with 64 rows. NAN: out of memory. */
double folds_gain(const fixture *rmsnorm);

/* A layer with centred weights gives x - mean(x), of which RMSNorm is LayerNorm of x. This is the
 * ratio of their rms errors, RMSNorm's over LayerNorm's, with either row stored in bf16. The truth
 * is LayerNorm of the case's x. */
double folds_centring(const fixture *layernorm);

/* The mean of a row as a share of its rms, in per cent: the cosine of the row and the vector of
 * ones. Averaged over the rows, with its sign or without. */
double folds_ones(const fixture *layernorm, bool sign);

/* Backward may compute xhat from the stored y as (y - beta) / gamma, or from the stored x. The
 * first way's rms error of dx over the second's; both errors are relative to the terms of dx. beta
 * is N(0, 1). */
double folds_from_y(const fixture *backward);
