/* What a ratio of two times comes to: a saving or a speed-up, with its interval and the A/A band.
 * SPDX-License-Identifier: MIT */
#ifndef NL_FIGURE_H
#define NL_FIGURE_H

#include "base/stats.h"

/* A number and where the truth lies; wide: the same, and the A/A band on either side of it. */
typedef struct figure {
    estimate value, wide;
    double band; /* half of what the band adds */
    size_t rounds;
} figure;

/* From the log of b's time over a's. In per cent of a step of which a is this share; and how many
 * times as fast b is, where share does not matter. */
figure figure_saving(double share, estimate log_ratio, double band);
figure figure_speedup(double share, estimate log_ratio, double band);

#endif
