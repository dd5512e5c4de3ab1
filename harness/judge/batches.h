/* The same rows computed in another batch: have they the same bits? SPDX-License-Identifier: MIT */
#pragma once

#include "judge/judge.h"

#include <stdio.h>

typedef struct batches {
    size_t first, rows;     /* of x that were compared */
    size_t others, numbers; /* rows, and numbers, with other bits; NaNs are alike */
    size_t beyond;          /* numbers of the other batch that are beyond the bound */
    size_t worst;           /* the number of y or dx with the largest distance */
    double ulps;            /* which is so many ulps; infinite: one of both is NaN */
} batches;

/* part: of as many features as x, computed from its rows from `first` on. */
batches batches_compare(const judgement *j, const npy *part, size_t first);

void batches_print(const judgement *j, const batches *b, const char *path, FILE *out);
