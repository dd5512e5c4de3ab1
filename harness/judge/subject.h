/* Somebody's outputs, their inputs and the reference, and where the outputs are wrong.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "verify/expected.h"

enum { SUBJECT_AXES = 8 };

/* p->dtype is the type that y or dx was rounded to. */
typedef struct subject {
    const nl_problem *p;
    const ref_inputs *in;
    const ref_outputs *want;
    const expectations *expectations;
    const double *got[NL_ARGS]; /* the outputs to judge; NULL: not given */
    size_t rows[SUBJECT_AXES];  /* the rows within x's last 1, 2, ... axes before the features; ends
                                   with 0 */
    nl_dtype narrow; /* the type of x or y with fewer bits than f32; NL_F32: neither has one */
    int threads;     /* of the call; 1 where nobody knows */
    const struct region *only; /* the region in which formulas are compared; NULL: everywhere */
    size_t most; /* numbers of y or dx that a test of all formulas may compute; 0: no limit */
} subject;

/* The output that is a tensor like x: y, or dx in backward. */
static inline nl_arg subject_tensor(const subject *s) {
    return s->p->pass == NL_BACKWARD ? NL_DX : NL_Y;
}

/* The rows, features and places that have wrong numbers of an output; a tensor is [n][c][s], a vector has
 * features or rows. */
typedef struct region {
    nl_arg output;
    size_t count, wrong, first; /* numbers; those that are wrong, and the first of them */
    bool *rows, *features, *places;
    size_t box; /* numbers in wrong rows, features and places at once */
} region;

/* Is number i of output o impossible, although it has no bound? Impossible are a NaN or infinity where
 * the right number is finite, and a y that no row can have. For our own implementations, which promise
 * nothing there, always false. */
bool subject_impossible(const subject *s, nl_arg o, size_t i, const expected_value *d);

/* Finds an output's numbers beyond their bound, and impossible ones. False: out of memory. */
bool region_make(const subject *s, nl_arg output, region *out);
void region_free(region *r);
bool region_has(const subject *s, const region *r, size_t i);

/* "5 of 185: in every row, from feature 32 on: the tail". */
void region_text(const subject *s, const region *r, char *text, size_t size);

/* All outputs: "mean, rstd are wrong in every element; y is wrong in ...; right: residual_out". */
void regions_text(const subject *s, const region of[NL_ARGS], char *text, size_t size);

void text_append(char *text, size_t size, const char *more);
