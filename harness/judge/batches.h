/* The same rows computed in another batch: have they the same bits? SPDX-License-Identifier: MIT */
#pragma once

#include "judge/judge.h"

typedef struct batches {
    size_t first, rows;     /* of x that were compared */
    size_t others, numbers; /* rows, and numbers, with other bits; NaNs are alike */
    size_t beyond;          /* numbers of the other batch that are beyond the bound */
    size_t worst;           /* the number of y or dx with the largest distance */
    double ulps;            /* which is so many ulps; infinite: one of both is NaN */
    const char *ulps_of; /* "": of the type that is judged; " of f64": of that they are saved in */
} batches;

/* Has part, of y's or dx's type, rows of as many features as x, not more than x has from `first`
 * on? False: error says what is wrong, without a subject: "has shape (23,): ...". */
bool batches_fit(const nl_problem *p, const npy *part, size_t first, char *error, size_t size);
batches batches_compare(const judgement *j, const npy *part, size_t first);
void batches_print(const judgement *j, const batches *b, const char *path, FILE *out);
