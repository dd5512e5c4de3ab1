/* The largest error that a method may make on given data, derived in docs/verification.md.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "reference.h"
#include "verify/instance.h"

/* A bound in units of 2^-24. probable: the smaller of the certain bound and one that a right kernel
 * breaks less than once in 10^16 sums. */
typedef struct bound {
    double probable, certain;
} bound;

/* The largest .lanes of an implementation. */
enum { LANES_MAX = 256 };

/* The error allowed to float arithmetic in one group. */
typedef struct allowance {
    bound units;    /* of xhat or dx, on the scale of max(1, |xhat|) */
    bound rstd;     /* of rstd itself */
    bound sum;      /* of the sum that gives the mean, relative to the sum of |x| */
    double kappa;   /* mean |x| over sigma, the condition of subtracting the mean; in backward, the
                     error that xhat starts with, in units */
    bool promised;  /* false: the method has no bound on these data */
    bool unit_xhat; /* backward, exact data: saved statistics make each xhat 1, -1 or 0 */
    bool folds;     /* y may be x * a + b */
    bool exact;     /* no operation of y or dx rounds, but the one that stores it */
} allowance;

/* For group g of the instance's case, given the reference's statistics. */
allowance allow(const instance *in, const ref_outputs *want, size_t g);

/* The bound of dgamma or dbeta (`which`) of feature j. */
bound allow_column(const instance *in, const ref_outputs *want, nl_arg which, size_t j);

/* Is it finite, but too large for a sum of floats? No method promises a right result in that
 * case. */
bool leaves_range(long double sum);

bool exact_data(const instance *in);

/* The bound of the saved mean: 0 on exact data, unless the division or the method rounds. */
bound allow_mean(const instance *in, const allowance *a);
