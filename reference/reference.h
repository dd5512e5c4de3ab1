/* The truth: every layer, forward, inference and backward, in compensated long double, two passes,
 * no cleverness. What it rests on is in tests/reference.c: MPFR, examples worked by hand, finite
 * differences. SPDX-License-Identifier: MIT */
#ifndef NL_REFERENCE_H
#define NL_REFERENCE_H

#include "normlab.h"

/* Values are given as doubles, which hold every storage type exactly. NULL as in normlab.h. */
typedef struct ref_inputs {
    const double *x, *residual;              /* [n][c][s] */
    const double *dy, *dresidual;            /* [n][c][s] */
    const float *gamma, *beta;               /* [c] */
    const float *running_mean, *running_var; /* [c] */
} ref_inputs;

/* Owned by the caller. A group is what shares one mean: a row, or for BatchNorm a channel. */
typedef struct ref_outputs {
    double *xhat;           /* [n][c][s]: (x - mean) * rstd, or x * rstd; y = gain * xhat + beta */
    double *sum;            /* [n][c]: x + residual; may be NULL */
    long double *mean;      /* [groups]; zero for the RMS norms */
    long double *var;       /* [groups]: biased variance, or the mean square */
    long double *rstd;      /* [groups] */
    long double *magnitude; /* [groups]: mean |x|, the scale of the mean's rounding error */
    long double *running_mean, *running_var; /* [c]: the new ones, or NULL */
    double *dx, *dx_gauge;                   /* [n][c][s], backward; with the scale of its error */
    long double *dgamma, *dgamma_gauge, *dbeta, *dbeta_gauge; /* [c], backward */
} ref_outputs;

size_t ref_groups(const nl_problem *p);

/* forward and inference fill xhat to running_var; backward fills xhat to magnitude from x alone
 * (not from saved statistics) and then dx to dbeta_gauge. False: out of memory. */
bool ref_compute(const nl_problem *p, const ref_inputs *in, const ref_outputs *out, int threads);

/* The gain of feature j: 1, gamma or 1 + w. */
long double ref_gain(const nl_problem *p, const float *gamma, size_t j);

/* v rounded to the storage type, to nearest even, by arithmetic on its exponent: not the
 * conversion that the kernels use. */
long double ref_round(nl_dtype t, long double v);

/* The scale of one unit of rounding error: 2^-24, 2^-11, 2^-8; its largest finite number; and its
 * smallest normal one. */
long double ref_unit(nl_dtype t);
long double ref_largest(nl_dtype t);
long double ref_smallest_normal(nl_dtype t);

#endif
