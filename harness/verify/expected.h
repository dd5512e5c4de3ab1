/* The expected value of each number of the outputs, and its allowed error.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/data.h"
#include "reference.h"
#include "verify/instance.h"

/* The part of an expected value that is the same for all implementations. */
typedef struct plain {
    double want;     /* may be NaN or infinite */
    double per_unit; /* 1 / unit of the error; 0: only expected_at() can judge the number */
} plain;

/* Computed once, shared by all implementations. */
typedef struct answer {
    ref_inputs in; /* inputs of the reference */
    ref_outputs want;
    double *input[NL_ARGS]; /* the tensors of `in` */
    void *memory;
    plain *plain;         /* one for each number of y or dx; NULL: not made */
    plain *sums;          /* one for each number of residual_out; NULL: not made */
    unsigned long number; /* unique in a process */
} answer;

/* Allocates the tensors of `in`, which the caller fills, and `want`. False: out of memory. */
bool answer_room(const nl_problem *p, bool residual, bool gate, bool running, answer *out);

/* Makes the answer of a case and, in backward, data's MEAN and RSTD. False: out of memory. */
bool answer_make(const nl_case *c, nl_data *data, answer *out);
void answer_free(answer *a);

/* The largest error that a method may make on given data, derived in docs/verification.md. */

/* A bound in units of 2^-24. probable: the smaller of the certain bound and a bound that a right
 * kernel breaks less than once in 10^16 sums. */
typedef struct bound {
    double probable, certain;
} bound;

/* If exp(-|z|) is subnormal, silu(z) and its derivative are off by at most SILU_SUBNORMAL * 2^-150:
 * they are products of exp, off by at most 2^-149, and of |z|, at most 110. */
enum { SILU_SUBNORMAL = 256 };

/* The largest .lanes of an implementation. */
enum { LANES_MAX = 256 };

/* The error allowed to float arithmetic in one group. */
typedef struct allowance {
    bound units;    /* of xhat or dx, on the scale of max(1, |xhat|) */
    bound rstd;     /* of rstd itself */
    bound sum;      /* of the sum that gives the mean, relative to the sum of |x| */
    double kappa;   /* mean |x| over sigma, the condition of subtracting the mean; in backward, the
                     error of xhat from the rounded statistics, in units */
    bool promised;  /* false: the method has no bound on these data */
    bool unit_xhat; /* backward, exact data: saved statistics make each xhat 1, -1 or 0 */
    bool folds;     /* y may be x * a + b */
    bool exact;     /* no operation of y or dx rounds except the store */
} allowance;

/* The allowance of group g of the instance's case, given the reference's statistics. */
allowance allow(const instance *in, const ref_outputs *want, size_t g);

/* The bound of dgamma or dbeta (`which`) of feature j. */
bound allow_column(const instance *in, const ref_outputs *want, nl_arg which, size_t j);

/* Is the sum finite, but too large for a sum of floats? No method promises a right result in that
 * case. */
bool leaves_range(double sum);

bool exact_data(const instance *in);

/* dx's scale, before silu(gate) multiplies dx if the gate comes first. */
static inline double norm_dx_scale(const nl_problem *p, const ref_outputs *want, size_t i) {
    const double scale = want->dx_scale[i];
    return nl_layers[p->op].gate == NL_GATE_FIRST ? scale / ref_silu_scale(want, i) : scale;
}

/* The bound of the saved mean: 0 on exact data, unless the division or the method rounds. */
bound allow_mean(const instance *in, const allowance *a);

/* One number of an output. If a cast may round either way, every number from low to high is right;
 * otherwise both are `want`. */
typedef struct expected_value {
    nl_dtype dtype; /* type of the output */
    double want, low, high;
    double scale; /* size of the terms; a unit is dtype's rounding error times scale */
    bound allowed;
    double blur;   /* in 16 bits: the allowed error of the float before rounding; else NaN */
    bool promised; /* false: the method has no bound for this number */
    bool loose;    /* if NaN or Inf is expected, either is right: rounding decides which */
} expected_value;

/* What all numbers of a call share. */
typedef struct expectations {
    const instance *in;
    const ref_outputs *want;
    allowance *allowed; /* one per group */
    size_t promised;    /* groups with a bound */
    size_t exact;       /* groups whose share of dgamma no operation rounds */
    double kappa, rstd; /* the largest of all groups */
    double ratio;       /* f32's unit over the tensors' unit */
    nl_dtype
        stored[NL_ARGS]; /* the types of the caller's outputs: dgamma, dbeta may have 16 bits */
} expectations;

/* False: out of memory. *in and *want must outlive *out. */
bool expectations_make(const instance *in, const ref_outputs *want, expectations *out);
void expectations_free(expectations *d);

/* Is s an output of this call? The functions after expected_has() return the count of its numbers,
 * their type, and what is expected of number i. */
bool expected_has(const instance *in, nl_arg s);
size_t expected_count(const nl_problem *p, nl_arg s);
nl_dtype expected_type(const expectations *d, nl_arg s);
expected_value expected_at(const expectations *d, nl_arg s, size_t i);
void expected_name(const nl_problem *p, nl_arg s, size_t i, char *text,
                   size_t size); /* "y[3][17]" */

/* Fills answer.plain and .sums, if there is memory. Without them, expected_at() for every
 * implementation would take most of a suite's time. */
void expected_make_plain(const nl_case *c, const nl_data *data, answer *a);

/* Returns the smallest bound of the numbers of y, dx or residual_out in group g; -1: no bound. A
 * number with a plain part and a smaller error is right. */
double expected_floor(const expectations *d, nl_arg s, size_t g);

/* Does the plain part alone show that `got` is right and, in 16 bits, rounded correctly? `error` is
 * the error of `got`, in units. */
bool expected_near(nl_dtype t, const plain *it, double floor, double got, double error);

/* Is got right: within the bound, and a possible rounding of a float that is within its blur? */
bool expected_met(const expected_value *d, double got);

/* Could got be a float within the blur, rounded to nearest, ties to even? */
bool expected_rounded(const expected_value *d, double got);

/* The distance of got from [low, high] in units of d's rounding error times the scale. Infinite if
 * exactly one of got and low is NaN. */
double error_units(nl_dtype d, double got, double low, double high, double scale);
