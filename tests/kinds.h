/* The data and shapes that the reference is tested on, easy and hard.
 * SPDX-License-Identifier: MIT */
#ifndef NL_TEST_KINDS_H
#define NL_TEST_KINDS_H

#include "support.h"

static const struct kind kinds[] = {
    {"normal", 0, 1, 1e-5f, false},
    {"no eps", 0.5, 1, 0, false},
    {"mean 2^8 sigma", 256, 1, 1e-5f, false},
    {"mean 2^22 sigma", 0x1p22, 1, 1e-12f, false},
    {"mean -2^22 * 1e24", -0x1p22 * 1e24, 1e24, 1, false},
    {"1e30", 0, 1e30, 1e-5f, false},
    {"+-1e30", 0, 1e30, 1e-6f, true},
    {"subnormal", 0, 0x1p-140, 1e-12f, false},
    {"subnormal, no eps", 0, 0x1p-140, 0, false},
    {"eps 1e-12", 0x1p-20, 0x1p-20, 1e-12f, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const size_t shapes[4][3] = {{3, 37, 1}, {2, 2, 1}, {5, 3, 7}, {37, 3, 1}};

#endif
