/* Is an implementation right on a case? Its outputs against the long-double reference, within a
 * bound that follows from its method and the conditioning of the data (docs/verification.md).
 * SPDX-License-Identifier: MIT */
#ifndef NL_VERIFY_H
#define NL_VERIFY_H

#include "cases/data.h"
#include "reference.h"

/* What a case should give. Made once, shared by all implementations. */
typedef struct answer {
    ref_outputs want;
    void *memory;
} answer;

/* Also fills the MEAN and RSTD inputs of a backward case. False: out of memory. */
bool answer_make(const nl_case *c, nl_data *data, answer *out);
void answer_free(answer *a);

/* OK: within the bound. FAIL. DEMO: the method promises nothing on these data (one-pass variance
 * where the mean is far off), so its error is shown and not judged. SKIP: did not run. */
typedef enum outcome { OUTCOME_OK, OUTCOME_FAIL, OUTCOME_DEMO, OUTCOME_SKIP } outcome;

typedef struct verdict {
    outcome outcome;
    double error_u, bound_u; /* largest error of y or dx, and the bound where it was, in units */
    size_t compared;         /* numbers compared; 0 is a failure */
    char why[320];           /* what failed and where, or why it did not run */
} verdict;

const char *outcome_name(outcome o);

/* Where buffers lie: against an inaccessible page behind them, or on a page's start with one before
 * them (and further out behind). */
typedef enum placement { PLACE_END, PLACE_START } placement;

/* The buffers of one call, and scratch. */
typedef struct instance {
    const nl_case *c;
    const nl_data *data;
    const nl_impl *impl;
    void *at[SLOTS], *scratch;
    size_t scratch_bytes;
    void *map[SLOTS + 1];
    size_t map_bytes[SLOTS + 1];
} instance;

/* impl may be set to another later, if scratch_bytes is enough for it too. */
bool instance_make(const nl_case *c, const nl_data *data, const nl_impl *impl, size_t scratch_bytes,
                   placement where, instance *out);
void instance_fill(instance *in); /* inputs as they were, everything else NaN */
nl_status instance_call(const instance *in, int threads);
void instance_free(instance *in);

/* A FAIL; format has one %s, for what. */
verdict failure(const char *format, const char *what);

/* How far got is from anything between low and high (equal, but where a cast may fall either way), in
 * units of d's rounding error times the gauge. Infinite where a NaN is not due, or is and is not
 * there. */
double error_units(nl_dtype d, double got, long double low, long double high, long double gauge);

/* Compares what a call has left in `in` with the answer. */
verdict compare(const instance *in, const answer *a);

/* Fills, calls and compares, surviving a call that reads or writes past its buffers. */
verdict verify(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               placement where, int threads);

/* The outputs of someone else's LayerNorm (NAME.y.npy), judged like a two-pass of ours. */
verdict verify_model(const nl_case *c, const nl_data *data, const answer *a);

#endif
