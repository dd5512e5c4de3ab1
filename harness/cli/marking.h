/* The points of a kernel for each part of an assignment. SPDX-License-Identifier: MIT */
#pragma once

#include "verify/verify.h"
#include "workbench/assignment.h"
#include "workbench/marks.h"

typedef struct grading {
    const assignment *work;
    const nl_impl *impl;
    const char *counted, *counted_isa; /* the library for counting; NULL: it was not built */
    int threads, seed;
    double seconds;
    marks *out;
    verdict failed;     /* during grading: the failure on the current case */
    size_t done, total; /* cases */
    void (*graded)(const mark *k);
} grading;

/* Grades all parts. Errors, counts and speeds come last, and get points only if all other parts are
 * right. False: after a message. */
bool grade_all(grading *j);

/* Times the kernel against the two rungs of the part, and gives points for speed. The part must
 * have been checked. */
bool grade_speed(grading *j, const part *p, mark *k);

/* The number of steps from `from` to `to` that the value reaches; a value within 2 % of a step
 * reaches the step. */
int grade_steps(double mine, double from, double to, int steps);

bool grade_count(grading *j, const part *p);

/* The position of a value between `from` (0) and `to` (1), on a logarithmic scale. */
double grade_share(double value, double from, double to);

/* Notes zero points for a part that was not run, and the reason. */
void grade_nothing(grading *j, const part *p, const char *why);
