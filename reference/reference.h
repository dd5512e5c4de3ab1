/* The expected results: every layer, forward, inference and backward, in compensated long double
 * and two passes. tests/library/reference.c and tests/library/gradients.c check it with MPFR,
 * examples worked by hand, and finite differences. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Tensors are doubles, which hold every storage type exactly. NULL is allowed as in normlab.h. */
typedef struct ref_inputs {
    const double *x, *residual;              /* [n][c][s] */
    const double *gate;                      /* [n][c] */
    const double *dy, *dresidual;            /* [n][c][s] */
    const float *gamma, *beta;               /* [c] */
    const float *running_mean, *running_var; /* [c] */
} ref_inputs;

/* The caller owns the arrays. A group's values share one mean: a row, or a BatchNorm channel. */
typedef struct ref_outputs {
    double *xhat;           /* [n][c][s]: (x - mean) * rstd, or x * rstd; y = gain * xhat + beta */
    double *sum;            /* [n][c]: x + residual; may be NULL */
    long double *mean;      /* [groups]; zero for the RMS norms */
    long double *var;       /* [groups]: biased variance, or the mean square */
    long double *rstd;      /* [groups] */
    long double *magnitude; /* [groups]: mean |x|, the scale of the mean's rounding error */
    long double *running_mean, *running_var; /* [c]: the new running statistics, or NULL */
    double *dx, *dx_scale;                   /* [n][c][s], backward; dx_scale: its error's scale */
    long double *dgamma, *dgamma_scale, *dbeta, *dbeta_scale; /* [c], backward */
    /* [n][c], with a gate: silu(gate), and in backward the sum of |terms| of silu's derivative */
    double *silu, *slope_scale;
    double *dgate, *dgate_scale; /* [n][c], backward */
} ref_outputs;

size_t ref_groups(const nl_problem *p);

/* Forward fills the arrays from xhat to running_var, inference from xhat to magnitude. Backward
 * computes xhat to magnitude anew, without saved statistics, then dx to dbeta_scale. With a gate,
 * the arrays of the gate are filled, too. False: out of memory. */
bool ref_compute(const nl_problem *p, const ref_inputs *in, const ref_outputs *out, int threads);

/* The gain of feature j: 1, gamma or 1 + w. */
long double ref_gain(const nl_problem *p, const float *gamma, size_t j);

/* The factor of xhat[i] in y: the gain, times silu(gate) if the gate comes last. */
long double ref_factor(const nl_problem *p, const float *gamma, const ref_outputs *o, size_t i);

/* |silu(gate)|, at least 2^-300: the last factor of dx_scale[i] if the gate comes first. The last
 * factor of dgate_scale[i] is slope_scale[i]. */
double ref_silu_scale(const ref_outputs *o, size_t i);

/* Rounds to nearest even by arithmetic on the exponent, independently of the kernels. */
long double ref_round(nl_dtype t, long double v);
double ref_round_double(nl_dtype t, double v);

/* Facts of a storage type: bits of the significand, exponent of the smallest normal number, the
 * smallest normal number, the largest finite number, and the unit roundoff. */
typedef struct ref_format {
    int bits, low;
    double smallest_normal, largest, unit;
} ref_format;

extern const ref_format ref_formats[];

static inline long double ref_unit(nl_dtype t) {
    return ref_formats[t].unit;
}

static inline long double ref_largest(nl_dtype t) {
    return ref_formats[t].largest;
}

static inline long double ref_smallest_normal(nl_dtype t) {
    return ref_formats[t].smallest_normal;
}
