/* idea   batch_prefetch, with the output from the last element to the first.
 * gain   What the statistics have read last is still in a cache when the output reads it first.
 * fails  Where all of x stays in the cache anyway, or next to nothing of it does.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static const batch_recipe q = {.how = CERTIFIED, .tiles = true, .ahead = 2, .reverse = true};

NL_IMPL(.about = "the output begins where the statistics ended", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 9, .range_safe = true,
        .method = NL_REFINED, .lanes = LANES, .forward = batch_forward, .scratch = batch_scratch);
