/* Compares a gradient with a difference quotient. SPDX-License-Identifier: MIT */
#pragma once

#include "support.h"

/* Does the slope of the loss along a random direction of v agree with the gradient? */
static inline void expect_slope(const char *name, float *v, const float *gradient, size_t count,
                                uint64_t stream, double (*loss)(void *), void *context) {
    const double h = 0x1p-9;
    double want = 0, size = 0, sums[2];
    float there[2000];
    cr_assert(count <= sizeof there / sizeof *there);
    memcpy(there, v, count * sizeof *v);
    for (size_t i = 0; i < count; i++) {
        double moved = (double)gradient[i] * random_normal(stream, i);
        want += moved, size += moved * moved;
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < count; i++)
            v[i] = there[i] + (float)((side ? -h : h) * random_normal(stream, i));
        sums[side] = loss(context);
    }
    memcpy(v, there, count * sizeof *v);
    double got = (sums[0] - sums[1]) / (2 * h);
    cr_assert(size > 0 && fabs(got - want) < 0.01 * sqrt(size), "%s: %g, not %g", name, want, got);
}
