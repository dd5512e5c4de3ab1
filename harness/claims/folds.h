/* What it costs in accuracy to fold a part of a norm into the neighbouring weights, or to keep y
 * instead of x for backward. Only stored values are rounded, to the case's type; everything is
 * computed in double. SPDX-License-Identifier: MIT */
#pragma once

#include "timing/fixture.h"

/* The rms error of W * xhat with the gain folded into W, over that of W * (gain * xhat): all of W,
 * gain and the norm's output are stored. W is N(0, 1 / c), with 64 rows. NAN: out of memory. */
double folds_gain(const fixture *rmsnorm);

/* The rms error of RMSNorm of x - mean(x), as a layer with centred weights would give it, over that
 * of LayerNorm of x; either row is stored in bf16. The truth is LayerNorm of the case's x. */
double folds_centring(const fixture *layernorm);

/* The mean of a row as a share of its rms, in per cent: the cosine of the row and the vector of
 * ones. With the sign, or without, averaged over the rows. */
double folds_ones(const fixture *layernorm, bool sign);

/* The rms error of dx if backward computes xhat as (y - beta) / gamma from the y that is
 * stored, over that from the stored x, in the terms of dx. beta is N(0, 1). */
double folds_from_y(const fixture *backward);
