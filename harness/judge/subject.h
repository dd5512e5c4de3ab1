/* Outputs of any program with their inputs and the reference, and the region where the outputs are
 * wrong. SPDX-License-Identifier: MIT */
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
    size_t rows[SUBJECT_AXES];  /* rows[k]: number of rows in the last k + 1 axes of x before
                                   the axis of features; the list ends with 0 */
    nl_dtype narrow;            /* the 16-bit type of x or y; NL_F32: neither has 16 bits */
    int threads;                /* threads of the call; 1 if unknown */
    const struct region *only;  /* the region in which formulas are compared; NULL: everywhere */
    size_t most; /* limit on the numbers that a test of all formulas may compute; 0: none */
} subject;

/* A subject without outputs, on one thread. */
static inline subject subject_of(const nl_problem *p, const answer *a, const expectations *e) {
    return (subject){.p = p,
                     .in = &a->in,
                     .want = &a->want,
                     .expectations = e,
                     .narrow = p->dtype,
                     .threads = 1};
}

/* Returns the output with x's shape: y, or dx in backward. */
static inline nl_arg subject_tensor(const subject *s) {
    return s->p->pass == NL_BACKWARD ? NL_DX : NL_Y;
}

/* The rows, features and places with wrong numbers of an output. A tensor is [n][c][s]; a vector
 * has only features or only rows. */
typedef struct region {
    nl_arg output;
    size_t count, wrong, first; /* all numbers; wrong numbers; index of the first wrong number */
    bool *rows, *features, *places;
    size_t box; /* numbers whose row, feature and place are all wrong */
} region;

/* Is number i of output o impossible, although it has no bound? Impossible: a NaN or infinity if
 * the right number is finite, or a y that no row can have. For our own implementations always
 * false, since they promise nothing without a bound. */
bool subject_impossible(const subject *s, nl_arg o, size_t i, const expected_value *d);

/* Finds an output's impossible numbers and those beyond their bound. False: out of memory. */
bool region_make(const subject *s, nl_arg output, region *out);
void region_free(region *r);
bool region_has(const subject *s, const region *r, size_t i);

/* Writes, for example, "in 5 of 185 elements, from feature 32 on: the tail". */
void region_text(const subject *s, const region *r, char *text, size_t size);

/* Writes "mean, rstd are wrong in every element; y is wrong in ...; right: residual_out". */
void regions_text(const subject *s, const region of[NL_ARGS], char *text, size_t size);

void text_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
