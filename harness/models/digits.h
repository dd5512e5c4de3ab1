/* Drawn digits, the same on every machine, for the studies that train a network.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { DIGIT_SIDE = 12, DIGIT_POINTS = DIGIT_SIDE * DIGIT_SIDE, DIGITS = 10 };
enum { LEARNT = 2048, HELD_OUT = 256 }; /* pictures to learn, and behind them those to test with */

typedef struct digits {
    float *x; /* [LEARNT + HELD_OUT][DIGIT_POINTS] */
    unsigned char *labels;
} digits;

/* False: out of memory. */
bool digits_make(digits *all);
void digits_free(digits *all);

/* The points of picture i. */
float *digit(const digits *all, size_t i);
