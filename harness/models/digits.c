/* SPDX-License-Identifier: MIT */
#include "models/digits.h"
#include "base/random.h"

#include <stdlib.h>

/* 3 x 5 points, an octal digit for each row. */
static const unsigned short glyphs[DIGITS] = {075557, 026227, 071747, 071717, 055711,
                                              074717, 074757, 071122, 075757, 075717};

/* Draws picture i, which depends on i alone: a digit at twice its size, at a random place on 12 x
 * 12 points, with random contrast, brightness and noise. */
static void draw(float *x, unsigned char *label, size_t i) {
    uint32_t at[4];
    random_words(1, i, at);
    *label = (unsigned char)(at[0] % DIGITS);
    size_t left = at[1] % (DIGIT_SIDE - 6 + 1), top = at[2] % (DIGIT_SIDE - 10 + 1);
    double contrast = 0.5 + 1.5 * random_uniform(2, i), brightness = 2 * random_uniform(3, i) - 1;
    for (size_t r = 0; r < DIGIT_SIDE; r++)
        for (size_t c = 0; c < DIGIT_SIDE; c++) {
            bool inside = r >= top && r < top + 10 && c >= left && c < left + 6;
            size_t point = inside ? 14 - ((r - top) / 2 * 3 + (c - left) / 2) : 0;
            double ink = inside && glyphs[*label] >> point & 1;
            double noise = 0.3 * random_normal(4, i * DIGIT_POINTS + r * DIGIT_SIDE + c);
            x[r * DIGIT_SIDE + c] = (float)(brightness + contrast * (ink + noise));
        }
}

bool digits_make(digits *all) {
    const size_t n = LEARNT + HELD_OUT;
    *all = (digits){malloc(n * DIGIT_POINTS * sizeof *all->x), malloc(n)};
    if (!all->x || !all->labels) return digits_free(all), false;
    for (size_t i = 0; i < n; i++) draw(digit(all, i), &all->labels[i], i);
    return true;
}

void digits_free(digits *all) {
    free(all->x), free(all->labels);
}

float *digit(const digits *all, size_t i) {
    return all->x + i * DIGIT_POINTS;
}
