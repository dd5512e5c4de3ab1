/* Somebody's outputs, their inputs and the reference. SPDX-License-Identifier: MIT */
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
} subject;

/* The output that is a tensor like x: y, or dx in backward. */
static inline nl_arg subject_tensor(const subject *s) {
    return s->p->pass == NL_BACKWARD ? NL_DX : NL_Y;
}
