/* The score of somebody's y: every element by the units and the bound of `normlab check`.
 * SPDX-License-Identifier: MIT */
#ifndef NL_SCORE_H
#define NL_SCORE_H

#include "judge/subject.h"

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

#endif
