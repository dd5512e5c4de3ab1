/* The expected value of each number of the outputs, and its allowed error.
 * SPDX-License-Identifier: MIT */
#ifndef NL_DUE_H
#define NL_DUE_H

#include "verify/answer.h"
#include "verify/bound.h"

/* One number of an output. If a cast may round either way, every number from low to high is right;
 * otherwise both are `want`. */
typedef struct due {
    nl_dtype dtype; /* of the output */
    long double want, low, high;
    long double gauge; /* the size of the terms of its sum: the error's unit is that of dtype times
                          this */
    bound allowed;
    long double blur; /* in 16 bits: the allowed error of the float before rounding; else NaN */
    bool promised;    /* false: the method has no bound for this number */
    bool loose;       /* if NaN or Inf is expected, either is right: rounding decides which */
} due;

/* What all numbers of a call share. */
typedef struct dues {
    const instance *in;
    const ref_outputs *want;
    allowance *allowed; /* one per group */
    size_t promised;    /* groups with a bound */
    size_t exact;       /* groups whose share of dgamma no operation rounds */
    double kappa, rstd; /* the largest of all groups */
    double ratio;       /* of f32's unit to that of the tensors */
    nl_dtype
        stored[NL_ARGS]; /* the types of the caller's outputs: dgamma, dbeta may have 16 bits */
} dues;

/* False: out of memory. *in and *want must outlive *out. */
bool dues_make(const instance *in, const ref_outputs *want, dues *out);
void dues_free(dues *d);

/* Is s an output of this call? Its count of numbers, its type, and number i. */
bool due_has(const instance *in, nl_arg s);
size_t due_count(const nl_problem *p, nl_arg s);
nl_dtype due_type(const dues *d, nl_arg s);
due due_at(const dues *d, nl_arg s, size_t i);
void due_name(const nl_problem *p, nl_arg s, size_t i, char *text, size_t size); /* "y[3][17]" */

/* Fills answer.plain, if there is memory. Without it, due_at() for every implementation would take
 * most of a suite's time. */
void due_make_plain(const nl_case *c, const nl_data *data, answer *a);

/* The smallest bound of all numbers of y or dx; -1: some have no bound. A number with a plain part
 * and a smaller error is right. */
double due_floor(const dues *d);

/* Is `got` right by its plain part alone? In 16 bits: is it certainly rounded correctly? *error: in
 * units. */
bool due_near(nl_dtype t, const plain *it, double floor, double got, double *error);

/* Is got right: within the bound, and a possible rounding of a float that is within its blur? */
bool due_met(const due *d, double got);

/* Could got be a float within the blur, rounded to nearest, ties to even? */
bool due_rounded(const due *d, double got);

/* The distance of got from [low, high] in units of d's rounding error times the gauge. Infinite if
 * exactly one of got and low is NaN. */
double error_units(nl_dtype d, double got, long double low, long double high, long double gauge);

#endif
