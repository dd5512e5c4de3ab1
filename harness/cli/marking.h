/* The points of a kernel for each part of an assignment. SPDX-License-Identifier: MIT */
#pragma once

#include "verify/verify.h"
#include "workbench/assignment.h"
#include "workbench/marks.h"

typedef struct grading {
    const assignment *work;
    const nl_impl *impl;
    const char *counted, *counted_isa; /* the library that is counted; NULL: it was not made */
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

/* How many of the steps between both ends the value has reached; a value within 2 % of a step has
 * reached it. */
int grade_steps(double mine, double from, double to, int steps);

/* The points for a part's counted instructions and cache misses. */
bool grade_count(grading *j, const part *p);

/* The position of a value between both ends, on a logarithmic scale from 0 to 1. */
double grade_share(double value, double from, double to);

/* Notes no points for a part that was not run, and why. */
void grade_nothing(grading *j, const part *p, const char *why);
