/* idea   batch_backward_prefetch, with dx stored past the caches.
 * gain   A line of dx need not be read before it is written: of six transfers one is saved.
 * fails  Where dx would have stayed in a cache, for us or for whoever reads it next.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static const batch_recipe q = {.backward = true, .tiles = true, .ahead = 2, .streaming = true};

NL_IMPL(.about = "gradients, dx stored past the caches", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .rank = 7, .method = NL_TWO_PASS,
        .lanes = LANES, .backward = batch_backward, .scratch = batch_scratch);
