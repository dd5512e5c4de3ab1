/* Somebody's y, and what is known about it. SPDX-License-Identifier: MIT */
#ifndef NL_SUBJECT_H
#define NL_SUBJECT_H

#include "reference.h"

/* p->dtype is what y was rounded to. */
typedef struct subject {
    const nl_problem *p;
    const ref_inputs *in;
    const ref_outputs *want;
    const double *y;
    size_t rows_together; /* length of x's axis before the features; 1: there is none */
    bool low;             /* x or y is a 16-bit type */
    nl_dtype low_type;    /* which */
} subject;

/* Units of docs/verification.md between y and anything from low to high, for element i. */
double subject_units(const subject *s, size_t i, double y, long double low, long double high);

#endif
