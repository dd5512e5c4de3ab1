/* How y is made, right or with one thing changed, in long double. SPDX-License-Identifier: MIT */
#ifndef NL_RECIPE_H
#define NL_RECIPE_H

#include "judge/mechanism.h"

/* Which elements share statistics: all features of a row; a channel; the whole array; a channel of
 * one sample; one place in all samples; the last two axes of x. */
typedef enum axis { FEATURES, CHANNELS, EVERYTHING, INSTANCES, POSITIONS, TWO_AXES } axis;

typedef struct recipe {
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
} recipe;

recipe recipe_right(const subject *s);

typedef struct kitchen {
    const subject *s;
    size_t count;
    long double *mean, *square; /* one per group, at most `count` of them */
    long double *y;
    double *error; /* units */
} kitchen;

bool kitchen_open(kitchen *k, const subject *s); /* false: out of memory */
void kitchen_close(kitchen *k);

/* Element i's group along an axis, and how many there are. */
size_t recipe_group(const subject *s, axis a, size_t i);
size_t recipe_groups(const subject *s, axis a);

void recipe_cook(kitchen *k, const recipe *r); /* k->y, rounded to the subject's type */
void recipe_taste(kitchen *k, hypothesis *h);  /* what is left between k->y and theirs */
double recipe_fit_eps(kitchen *k);             /* negative: there is none */
void recipe_fit_line(kitchen *k, double *factor, double *offset);

#endif
