/* idea   batch_prefetch on several threads: each does some channels from beginning to end; or, where
 *        there are few, some pieces of the samples, whose sums wait for each other.
 * gain   As many times as there are cores with caches or memory of their own.
 * fails  Below 32768 elements starting a thread costs more than it saves: so it does not.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static const batch_recipe q = {.how = CERTIFIED, .tiles = true, .ahead = 2, .threaded = true};

NL_IMPL(.about = "certified, on several threads", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 8, .range_safe = true,
        .threaded = true, .method = NL_REFINED, .lanes = LANES, .forward = batch_forward,
        .scratch = batch_scratch);
