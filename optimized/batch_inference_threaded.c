/* idea   batch_inference on several threads: each does some channels, or some of the samples.
 * gain   As many times as there are cores with caches or memory of their own.
 * fails  Below 32768 elements starting a thread costs more than it saves: so it does not.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static const batch_recipe q = {.inference = true, .tiles = true, .threaded = true};

NL_IMPL(.about = "the running statistics, on several threads", .ops = NL_BIT(NL_BATCHNORM),
        .passes = NL_BIT(NL_INFERENCE), .dtypes = NL_ALL_DTYPES, .rank = 6, .threaded = true,
        .method = NL_REFINED, .lanes = 1, .forward = batch_forward, .scratch = batch_scratch);
