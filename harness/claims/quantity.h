/* Quantities: timed, counted or computed numbers, as subjects of claims.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/race.h"
#include "timing/fixture.h"

/* A measurement: its mode and case. */
typedef struct question {
    race *by;               /* by->why: the reason of a failure */
    const char *how, *tail; /* "simd", "forward/f32/64x1024/normal" */
    fixture *two[2];        /* fixtures of LayerNorm and RMSNorm, if nothing is timed */
} question;

/* same: the figure that means no difference, or NaN. A timed quantity has race(), and of(), which
 * converts its log ratio. Any other quantity has get(), or compute(), which gets the fixture of
 * LayerNorm (side 0) or RMSNorm (1). alone: needs no fixtures. pass: the only pass for which the
 * quantity is defined; NULL: any. Sentences read BEFORE figure AFTER or, if RMSNorm needs more than
 * LayerNorm, NEEDS difference MORE, or NEEDS ratio TIMES. */
typedef struct quantity {
    const char *name, *unit, *about;
    double same;
    const char *before, *after, *needs, *more, *times;
    figure (*of)(double share, estimate log_ratio, double band);
    bool (*race)(const question *q, race_result *out);
    bool (*get)(const question *q, figure *out);
    double (*compute)(const fixture *f);
    int side;
    bool alone;
    const char *pass;
} quantity;

extern const quantity quantities[];
extern const size_t quantities_count;
const quantity *quantity_find(const char *name);

/* Computes a quantity that is not timed. */
bool quantity_compute(const quantity *of, question *q, figure *out);

/* Does the quantity compare the times of LayerNorm and RMSNorm? */
bool quantity_of_layers(const quantity *q);

/* The loss of accuracy if a part of a norm is folded into the neighbouring weights, or if y is
 * saved for backward instead of x. Stored values are rounded to the case's type (in
 * folds_centring() to bf16); the arithmetic between them is in double. */

/* The ratio of two rms errors: W * xhat with the gain folded into W, over W * (gain * xhat). W, the
 * gain and the norm's output are rounded to the storage type. W is N(0, 1 / c), 64 rows. NAN: no
 * memory. */
double folds_gain(const fixture *rmsnorm);

/* A layer with centred weights gives x - mean(x), and RMSNorm of x - mean(x) is LayerNorm of x.
 * Returns the rms error of this RMSNorm over LayerNorm's, if the inputs of both are stored in bf16.
 * The expected values are LayerNorm of the case's x. */
double folds_centring(const fixture *layernorm);

/* The mean of a row as a share of its rms, in per cent: the cosine of the row and the vector of
 * ones. The result is the average over the rows, of the signed or the absolute value. */
double folds_ones(const fixture *layernorm, bool sign);

/* Backward may compute xhat from the stored y as (y - beta) / gamma, or from the stored x. Returns
 * the rms error of dx from y over the rms error of dx from x; both errors are relative to the terms
 * of dx. beta is N(0, 1). */
double folds_from_y(const fixture *backward);
