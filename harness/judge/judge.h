/* Anybody's output against the reference, by the same bound as our own, and the likely mechanism of its
 * error. SPDX-License-Identifier: MIT */
#ifndef NL_JUDGE_H
#define NL_JUDGE_H

#include "base/npy.h"
#include "judge/growth.h"
#include "judge/mechanism.h"
#include "judge/score.h"

/* Up to here an error is what float arithmetic makes of any LayerNorm: nothing to explain. */
#define JUDGE_FEW_UNITS 8.0

/* What is to be judged. y has the shape of x; p.dtype is what y was rounded to. */
typedef struct submission {
    nl_problem p;
    const npy *x, *y, *residual;                            /* residual: may have no data */
    const float *gamma, *beta, *running_mean, *running_var; /* may be NULL */
} submission;

typedef struct judgement {
    const submission *of;
    ref_inputs in;
    ref_outputs want;
    subject s;
    score score;
    bool right;
    bool explained; /* whether there was anything to explain, and the rest was computed */
    hypothesis found[HYPOTHESES_MOST];
    size_t found_count, likely; /* the first ones: the data cannot tell them apart */
    growth growth, rest;
    pattern pattern;
    const char *rounding; /* what growth and pattern say together, or NULL */
    double *tensors;
    long double *groups;
} judgement;

/* Points into *of, and into itself. False: out of memory. */
bool judgement_make(judgement *j, const submission *of);
void judgement_free(judgement *j);

/* The mechanism in one line. */
const char *judgement_mechanism(const judgement *j);

#endif
