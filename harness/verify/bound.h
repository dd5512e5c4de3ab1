/* How large an error a method may make on given data: docs/verification.md derives it.
 * SPDX-License-Identifier: MIT */
#ifndef NL_BOUND_H
#define NL_BOUND_H

#include "reference.h"
#include "verify/instance.h"

/* What float arithmetic may cost group g, and whether the method promises anything there. */
typedef struct allowance {
    double units; /* of 2^-24, on the scale of max(1, |xhat|) */
    double kappa; /* mean |x| over sigma: how badly the subtraction of the mean is conditioned; for
                     backward how far off xhat is, in units, before anything else */
    bool promised;
} allowance;

/* For group g of the case that `in` is an instance of, given the reference's statistics. */
allowance allow(const instance *in, const ref_outputs *want, size_t g);

/* Exact data, and a method that no rounding touches on them: statistics must match exactly. */
bool exact_expected(const instance *in);

#endif
