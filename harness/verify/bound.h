/* The largest error that a method may make on given data, derived in docs/verification.md.
 * SPDX-License-Identifier: MIT */
#ifndef NL_BOUND_H
#define NL_BOUND_H

#include "reference.h"
#include "verify/instance.h"

/* The error allowed to float arithmetic in one group. */
typedef struct allowance {
    double units;  /* of 2^-24, on the scale of max(1, |xhat|) */
    double kappa;  /* mean |x| over sigma, the condition of subtracting the mean; in backward, the
                     error that xhat starts with, in units */
    bool promised; /* false: the method has no bound on these data */
} allowance;

/* For group g of the instance's case, given the reference's statistics. */
allowance allow(const instance *in, const ref_outputs *want, size_t g);

/* Exact data, and a method that does not round on them: the statistics must match exactly. */
bool exact_expected(const instance *in);

#endif
