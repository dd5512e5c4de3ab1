/* Scores somebody's outputs: every number in the units and by the bound of `normlab check`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "judge/subject.h"

typedef struct score {
    size_t count, exact;     /* elements of y or dx; those equal to the exact value rounded once */
    double rms;              /* units, over the finite errors of y or dx */
    size_t not_finite;       /* infinite errors of y or dx: NaN for a number, or a number for NaN */
    size_t judged, beyond;   /* numbers with a bound; those beyond it */
    size_t certain;          /* numbers beyond the certain bound as well as the probable one */
    size_t groups, promised; /* rows, or channels; those with a bound */
    size_t groups_beyond;    /* rows or channels with an element of y or dx beyond its bound */
    double largest;          /* units */
    struct {
        double largest;
        size_t count, beyond;
    } of[NL_ARGS];
    nl_arg
        worst_of; /* the output and index of the largest error: of the numbers beyond their bound,
                        else of those with a bound, else of all */
    size_t worst;
    double its_error, its_bound;
    double *kappa, *group_rms, *group_rest; /* [groups]; growth_pattern fills group_rest */
} score;

/* False: out of memory. The caller frees kappa. */
bool score_make(const subject *s, score *out);
