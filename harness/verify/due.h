/* What each number of the outputs should be, and by how much it may be off.
 * SPDX-License-Identifier: MIT */
#ifndef NL_DUE_H
#define NL_DUE_H

#include "verify/answer.h"
#include "verify/bound.h"

/* One number of an output. Where a cast may round either way, every number from low to high is
 * right; elsewhere both are `want`. */
typedef struct due {
    nl_dtype dtype; /* of the output */
    long double want, low, high;
    long double gauge; /* the size of the terms of its sum: the error's unit is that of dtype times
                          this */
    bound allowed;
    long double blur; /* in 16 bits: how far off the float may be that was rounded; else NaN */
    bool promised;    /* false: the method has no bound for this number */
    bool loose;       /* any NaN or Inf is right where one is due: which depends on rounding */
} due;

/* What all numbers of a call share. */
typedef struct dues {
    const instance *in;
    const ref_outputs *want;
    allowance *allowed;       /* one per group */
    size_t promised;          /* groups with a bound */
    size_t exact;             /* groups whose share of dgamma no operation rounds */
    double kappa, rstd;       /* the largest of all groups */
    double ratio;             /* of f32's unit to that of the tensors */
    nl_dtype stored[NL_ARGS]; /* where a caller has them so: dgamma and dbeta in 16 bits */
} dues;

/* False: out of memory. *in and *want must outlive *out. */
bool dues_make(const instance *in, const ref_outputs *want, dues *out);
void dues_free(dues *d);

/* Is s an output of this call? Of so many numbers; and number i of them. */
bool due_has(const instance *in, nl_arg s);
size_t due_count(const nl_problem *p, nl_arg s);
nl_dtype due_type(const dues *d, nl_arg s);
due due_at(const dues *d, nl_arg s, size_t i);

/* Gives an answer its numbers' plain part, if there is memory. Most of a suite's time would
 * otherwise go into due_at(), again for each implementation. */
void due_make_plain(const nl_case *c, const nl_data *data, answer *a);

/* The least bound of all numbers of y or dx: what is off by less is right wherever there is a plain
 * part. -1: some have no bound. */
double due_floor(const dues *d);

/* Is it so near the plain number that nothing else need be asked? In 16 bits: correctly rounded, for
 * certain. *error: how far off, in units. */
bool due_near(nl_dtype t, const plain *it, double floor, double got, double *error);

/* Is got right? Within the bound, and what rounding makes of a float that is within its own. */
bool due_met(const due *d, double got);

/* Could got be a float of the due size, rounded to nearest, ties to even? */
bool due_rounded(const due *d, double got);

/* The distance of got from [low, high] in units of d's rounding error times the gauge. Infinite if
 * exactly one of got and low is NaN. */
double error_units(nl_dtype d, double got, long double low, long double high, long double gauge);

#endif
