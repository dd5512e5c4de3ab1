/* SPDX-License-Identifier: MIT */
#include "timing/figure.h"

#include <math.h>

static double saving(double share, double r) {
    return -100 * share * expm1(r);
}

static double speedup(double share, double r) {
    (void)share;
    return exp(-r);
}

/* Saving and speed-up fall as the ratio rises, so the interval's ends swap. */
static estimate map_interval(double (*of)(double, double), double share, estimate r, double band) {
    return (estimate){of(share, r.median), of(share, r.high + band), of(share, r.low - band)};
}

static figure make(double (*of)(double, double), double share, estimate r, double band) {
    figure f = {map_interval(of, share, r, 0), map_interval(of, share, r, band), 0, 0};
    f.band = (f.wide.high - f.wide.low - (f.value.high - f.value.low)) / 2;
    return f;
}

figure figure_saving(double share, estimate log_ratio, double band) {
    return make(saving, share, log_ratio, band);
}

figure figure_speedup(double share, estimate log_ratio, double band) {
    return make(speedup, share, log_ratio, band);
}
