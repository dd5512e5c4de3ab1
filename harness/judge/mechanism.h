/* Why is somebody's output wrong? Each known mistake is made on purpose, and the one that gives the
 * same numbers is the likely mechanism. What no formula explains is rounding: how it lies along a
 * row and how it grows with kappa tell which. SPDX-License-Identifier: MIT */
#ifndef NL_MECHANISM_H
#define NL_MECHANISM_H

#include "reference.h"

/* Somebody's y, and what is known about it. p->dtype is what y was rounded to. */
typedef struct subject {
    const nl_problem *p;
    const ref_inputs *in;
    const ref_outputs *want;
    const double *y;
    size_t rows_together; /* length of x's axis before the features; 1: there is none */
    bool low;             /* x or y is a 16-bit type */
    nl_dtype low_type;    /* which */
} subject;

/* Units of docs/verification.md between y and v, for element i. */
double units_off(const subject *s, size_t i, double y, long double low, long double high);

typedef struct hypothesis {
    char name[24], text[96];
    bool fitted;    /* one free number, so that it explains more than it should */
    double removes; /* share of the rms error, 1: all of it; below 0: makes it worse */
    double left_rms, left_largest; /* units */
    size_t not_finite;             /* NaN for a number, or a number for NaN */
    bool explains;                 /* removes at least MECHANISM_ENOUGH, and adds no NaN */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
enum { HYPOTHESES_MOST = 40 };

/* Tests every mistake that makes sense for the subject and changes something; best first, those
 * with a free number last among equals. False: out of memory. */
bool mechanism_test(const subject *s, hypothesis out[HYPOTHESES_MOST], size_t *count);

/* The error of all groups split into what is the same along a group, what is proportional to xhat,
 * and the rest: shares of its energy. Counts groups with a finite error, and leaves in rest[] the
 * rms of each one's rest, in units. */
typedef struct pattern {
    double offset, scale, rest;
    double rest_rms; /* of all groups, units */
    size_t groups;
} pattern;
pattern mechanism_pattern(const subject *s, double *rest);

/* A line through log(error) against log(kappa), over the groups with 2 units or more. It decides
 * only where enough groups have a large enough range of kappa, and lie near the line. */
typedef struct growth {
    double slope, half_width; /* of its 95 % interval */
    double correlation, low, high;
    size_t groups;
    bool decides;
} growth;
growth mechanism_growth(const double *kappa, const double *error, size_t groups);

/* What the growth of the whole error, that of its rest and the pattern say together, or NULL. */
const char *mechanism_rounding(const subject *s, const growth *all, const growth *rest,
                               const pattern *p);

#endif
