/* Compares anybody's outputs with the reference, within the same bound as our own, and finds the
 * likely mechanism of their error. SPDX-License-Identifier: MIT */
#pragma once

#include "base/npy.h"
#include "judge/growth.h"
#include "judge/mechanism.h"
#include "judge/score.h"

/* The outputs to judge: y, or in backward dx. p.dtype is the type that y or dx was rounded to. */
typedef struct submission {
    nl_problem p;
    const npy *array
        [NL_ARGS]; /* x, residual or dresidual, gate, dy; y, or dx and dgate; NULL: not given */
    const float
        *vector[NL_ARGS];   /* gamma, beta, running statistics; dgamma, dbeta; NULL: not given */
    nl_dtype type[NL_ARGS]; /* of dgamma and dbeta: as they were saved */
} submission;

typedef struct judgement {
    const submission *of;
    ref_inputs in;
    ref_outputs want;
    nl_case as_case;
    nl_data data; /* gamma, beta and dy */
    instance as_instance;
    expectations expectations;
    subject s;
    score score;
    bool right;
    bool explained; /* the error needed an explanation: the members below are computed */
    mechanism formulas;
    region wrong; /* numbers of y or dx */
    growth growth, rest;
    pattern pattern;
    bool named;           /* the mechanism is a known mistake */
    bool partly;          /* the likely mistakes explain much, not all */
    const char *rounding; /* the mechanism that fits growth and pattern, or NULL */
    char mechanism[400];  /* in one line */
    double *tensors;
    long double *groups;
} judgement;

/* *j keeps pointers to *of and to itself: do not move either. False: out of memory. */
bool judgement_make(judgement *j, const submission *of);
void judgement_free(judgement *j);
