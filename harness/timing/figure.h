/* A ratio of two times as a saving or a speed-up, with its interval and the A/A band.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"

/* A number with its interval; wide: the interval extended by the A/A band at both ends. */
typedef struct figure {
    estimate value, wide;
    double band; /* half of the extension */
    size_t rounds;
} figure;

/* log_ratio: of b's time over a's. The saving is in per cent of a step of which a is `share`; the
 * speed-up does not depend on the share. */
figure figure_saving(double share, estimate log_ratio, double band);
figure figure_speedup(double share, estimate log_ratio, double band);
