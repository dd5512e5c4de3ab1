/* Somebody's y, its inputs and the reference. SPDX-License-Identifier: MIT */
#ifndef NL_SUBJECT_H
#define NL_SUBJECT_H

#include "reference.h"

/* p->dtype is the type that y was rounded to. */
typedef struct subject {
    const nl_problem *p;
    const ref_inputs *in;
    const ref_outputs *want;
    const double *y;
    size_t rows_together; /* length of x's axis before the features; 1: none */
    nl_dtype narrow;      /* the type of x or y with fewer bits than f32; NL_F32: neither has one */
} subject;

/* The distance of y from [low, high] for element i, in the units of docs/verification.md. */
double subject_units(const subject *s, size_t i, double y, long double low, long double high);

#endif
