/* Computes y in long double, by the right formula or with one thing changed.
 * SPDX-License-Identifier: MIT */
#ifndef NL_FORMULA_H
#define NL_FORMULA_H

#include "judge/subject.h"

/* Which elements share statistics: the layer's own groups; the features of a row; a channel; the
 * whole array; a channel of one sample; one position in all samples; the last two axes of x. */
typedef enum axis { GROUPS, FEATURES, CHANNELS, EVERYTHING, INSTANCES, POSITIONS, TWO_AXES } axis;

typedef struct formula {
    axis axis;
    long double eps;
    enum { INSIDE, OUTSIDE, NO_ROOT } root;     /* NO_ROOT: divides by the variance */
    enum { SUMMED, IGNORED, ROUNDED } residual; /* ROUNDED: x + residual is, before normalizing */
    nl_casting casting;
    bool centred, unbiased, inference, not_normalized;
    bool gain_plus_one, no_gamma, no_beta;
    bool sums_in_16_bits; /* every sum and square is rounded to the subject's narrow type */
    bool rounded;         /* y is rounded to `stored`, then to its own type */
    nl_dtype stored;
    long double factor, offset;
} formula;

formula formula_right(const subject *s);

typedef struct workspace {
    const subject *s;
    size_t count;
    long double *mean, *square; /* one per group, at most `count`; square becomes rstd */
    long double *y;
    double *error; /* units */
} workspace;

/* The difference between the subject's y and a formula's, in units. */
typedef struct mismatch {
    double rms, largest;
    size_t not_finite; /* NaN for a number, or a number for NaN */
} mismatch;

bool workspace_open(workspace *w, const subject *s); /* false: out of memory */
void workspace_close(workspace *w);

/* The group of element i along an axis, and the number of groups. */
size_t formula_group(const subject *s, axis a, size_t i);
size_t formula_groups(const subject *s, axis a);

void formula_evaluate(workspace *w, const formula *r); /* w->y, rounded to the subject's type */
mismatch formula_residual(workspace *w);               /* of w->y against the subject's */
double formula_fit_eps(workspace *w);                  /* negative: no fit */
void formula_fit_line(workspace *w, double *factor, double *offset);

#endif
