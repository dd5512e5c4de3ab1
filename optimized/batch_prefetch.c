/* idea   batch_certified, asking for x two rows before it is read.
 * gain   Memory sends what the processor's own prefetcher would ask for later or not at all: where a
 *        row is longer than the sums that fit the first-level cache, it is read in pieces, and each
 *        piece begins somewhere else.
 * fails  In a cache: so it does not ask for tensors that one holds.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static const batch_recipe q = {.how = CERTIFIED, .tiles = true, .ahead = 2};

NL_IMPL(.about = "certified, x asked for two rows ahead", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 14, .range_safe = true,
        .method = NL_REFINED, .lanes = LANES, .forward = batch_forward, .scratch = batch_scratch);
