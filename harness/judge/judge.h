/* What `normlab judge` finds out, and how it says so. SPDX-License-Identifier: MIT */
#ifndef NL_JUDGE_H
#define NL_JUDGE_H

#include "verbs/arrays.h"
#include "verify/bound.h"
#include "judge/mechanism.h"

#include <stdio.h>

/* Up to here an error is what float arithmetic makes of any LayerNorm: nothing to explain. */
#define JUDGE_FEW_UNITS 8.0

typedef struct score {
    size_t count, exact;     /* elements; those equal to the truth rounded once */
    size_t judged, beyond;   /* in groups where the bound promises something; beyond it */
    size_t groups, promised; /* rows, or channels; with a bound */
    size_t groups_beyond;    /* with an element beyond it */
    double largest, rms;     /* units; the rms over the finite ones */
    size_t not_finite; /* off by more than any number: NaN for a number, or a number for NaN */
    size_t worst;      /* element with the largest error in proportion to its bound */
    double its_error, its_bound;
    double *kappa, *group_rms, *group_rest; /* [groups]; the last is left for the mechanism */
} score;

/* False: out of memory. The caller frees kappa. */
bool score_make(const subject *s, score *out);

typedef struct judgement {
    const arrays *a;
    const char *y_path;
    subject s;
    score score;
    bool right;
    bool explained; /* whether there was anything to explain, and the rest was computed */
    hypothesis found[HYPOTHESES_MOST];
    size_t found_count;
    growth growth, rest;
    pattern pattern;
} judgement;

/* The mechanism in one line, and the name for the CSV. */
const char *judgement_mechanism(const judgement *j);

void judgement_print(const judgement *j, FILE *out);
void judgement_csv(const judgement *j, FILE *out);

#endif
