/* The points of a kernel for each part of an assignment. SPDX-License-Identifier: MIT */
#ifndef NL_MARKING_H
#define NL_MARKING_H

#include "verify/verify.h"
#include "workbench/assignment.h"
#include "workbench/marks.h"

typedef struct grading {
    const assignment *work;
    const nl_impl *impl;
    int threads, seed;
    double seconds;
    marks *out;
    verdict failed;     /* while it grades: the first failure of a category */
    size_t done, total; /* cases */
    void (*graded)(const mark *k);
} grading;

/* Categories first; errors and speeds only if all are right. False: bad input, after a message. */
bool grade_all(grading *j);

/* The points for a part's speed, which has been checked: times the kernel beside both rungs. */
bool grade_speed(grading *j, const part *p, mark *k);

/* The position of a value between both ends, on a logarithmic scale from 0 to 1. */
double grade_share(double value, double from, double to);

/* Notes no points for a part that was not run, and why. */
void grade_nothing(grading *j, const part *p, const char *why);

#endif
