/* Scores somebody's y: every element in the units and by the bound of `normlab check`.
 * SPDX-License-Identifier: MIT */
#ifndef NL_SCORE_H
#define NL_SCORE_H

#include "judge/subject.h"

typedef struct score {
    size_t count, exact;     /* elements; those equal to the exact value rounded once */
    size_t judged, beyond;   /* elements of groups with a bound; those beyond it */
    size_t certain;          /* elements beyond the certain bound as well as the probable one */
    size_t groups, promised; /* rows, or channels; those with a bound */
    size_t groups_beyond;    /* those with an element beyond its bound */
    double largest, rms;     /* units; the rms over the finite errors */
    size_t not_finite;       /* infinite errors: NaN for a number, or a number for NaN */
    size_t worst; /* the element with the largest error: of those beyond their bound, else of those
                     with one, else of all */
    double its_error, its_bound;
    double *kappa, *group_rms, *group_rest; /* [groups]; growth_pattern fills the last */
} score;

/* False: out of memory. The caller frees kappa. */
bool score_make(const subject *s, score *out);

#endif
