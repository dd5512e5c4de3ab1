/* How y is made, right or with one thing changed, in long double. SPDX-License-Identifier: MIT */
#ifndef NL_FORMULA_H
#define NL_FORMULA_H

#include "judge/subject.h"

/* Which elements share statistics: all features of a row; a channel; the whole array; a channel of
 * one sample; one place in all samples; the last two axes of x. */
typedef enum axis { FEATURES, CHANNELS, EVERYTHING, INSTANCES, POSITIONS, TWO_AXES } axis;

typedef struct formula {
    axis axis;
    long double eps;
    enum { INSIDE, OUTSIDE, NO_ROOT } root;     /* NO_ROOT: divides by the variance */
    enum { SUMMED, IGNORED, ROUNDED } residual; /* ROUNDED: x + residual, before it is normalized */
    nl_casting casting;
    bool centred, unbiased, inference, as_it_is; /* as_it_is: x is not normalized */
    bool zero_gain, no_gamma, no_beta;
    bool low_sums; /* every sum and square rounded to the subject's low_type */
    bool rounded;  /* y rounded to `stored` before it became what it is */
    nl_dtype stored;
    long double factor, offset;
} formula;

formula formula_right(const subject *s);

typedef struct workspace {
    const subject *s;
    size_t count;
    long double *mean, *square; /* one per group, at most `count` of them */
    long double *y;
    double *error; /* units */
} workspace;

/* How far somebody's y is from a formula's, in units. */
typedef struct mismatch {
    double rms, largest;
    size_t not_finite; /* NaN for a number, or a number for NaN */
} mismatch;

bool workspace_open(workspace *w, const subject *s); /* false: out of memory */
void workspace_close(workspace *w);

/* Element i's group along an axis, and how many there are. */
size_t formula_group(const subject *s, axis a, size_t i);
size_t formula_groups(const subject *s, axis a);

void formula_evaluate(workspace *w, const formula *r); /* w->y, rounded to the subject's type */
mismatch formula_residual(workspace *w);               /* what is left between w->y and theirs */
double formula_fit_eps(workspace *w);                  /* negative: there is none */
void formula_fit_line(workspace *w, double *factor, double *offset);

#endif
