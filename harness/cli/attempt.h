/* The verdict on one kernel, on one screen: verifies it from the simplest case to the hardest and,
 * if it is right, times it. SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

typedef struct attempt_options {
    int threads;
    double seconds;  /* seconds of timing per implementation and case */
    bool all;        /* run the whole suite after the short suite */
    case_list cases; /* cases that replace the suite, if any */
} attempt_options;

/* The plainest rung for a problem; NULL: there is none. */
const nl_impl *attempt_naive(const nl_problem *p);

/* Returns the exit code. */
int attempt(const nl_impl *impl, const attempt_options *o);
