/* idea   One reading for the statistics, shifted by K, the mean of each channel's first 16 values; and
 *        certified by its own sums: c^2 <= var says that K was near enough the mean. If not, that
 *        channel's strip is read again around the mean; and a channel whose sums left float's range
 *        is done in double.
 * gain   One reading of three saved, with the accuracy of refined and a range that is float's own.
 * fails  Where all channels begin with an outlier, it is refined plus one wasted reading.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

static void step(void *part, size_t begin, size_t end) {
    do_step(part, begin, end, (batch_recipe){.statistics = CERTIFIED, .tiles = true});
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    batch_forward(p, a, 1, step);
}

NL_IMPL(.about = "one reading with a certificate: its sums tell when a second is needed",
        .ops = NL_BIT(NL_BATCHNORM), .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES,
        .rank = 13, .range_safe = true, .method = NL_REFINED, .lanes = LANES, .forward = forward,
        .scratch = batch_scratch);
