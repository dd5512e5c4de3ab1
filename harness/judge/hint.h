/* Finds why an implementation failed a case: calls it again a few times, looks where its outputs
 * are wrong, and which known mistake gives the same numbers. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/mechanism.h"
#include "verify/expected.h"
#include "verify/instance.h"

typedef struct hint {
    char where[400];  /* "y is wrong in every element; mean is right"; empty: all right this time */
    char number[120]; /* "y[0][7] is 1.5, should be 2.5" */
    char cause[400];  /* or, if it is not known, what was tried */
    bool known;       /* is the cause known? */
    mechanism
        m; /* m.likely: the mistakes that give these numbers; 0: the cause is no known mistake */
} hint;

/* Keeps only the likely mistakes that are likely in `other` too. False: there are none. */
bool hint_narrow(hint *h, const hint *other);

/* Respells the case with rows of this many features; false: not possible. */
bool hint_resize(const nl_case *c, size_t features, nl_case *out);

/* False: out of memory, or the call failed. */
bool hint_make(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               int threads, hint *out);

/* The outputs of an implementation, called in several ways. */

/* The outputs of one call, as doubles; NULL: none, or the call failed. */
typedef struct sample {
    const double *of[NL_ARGS];
    double *memory;
    size_t bytes;
} sample;

/* Calls: as in a check; again; over outputs of zeros; with scratch of zeros; with one thread; and,
 * if the case is in place, with outputs in their own buffers. */
enum { FIRST, AGAIN, OVER_ZEROS, ZERO_SCRATCH, ONE_THREAD, APART, SAMPLES };

/* Calls the instance's implementation on its case and data, in other buffers. False: the first call
 * failed, or out of memory; free the samples in any case. */
bool samples_take(const instance *of, int threads, sample out[SAMPLES]);
void samples_free(sample of[SAMPLES]);
bool sample_same(const sample *a, const sample *b); /* as far as both calls succeeded */

/* Finds the method of an implementation by its errors on rows whose means are ever farther from
 * zero. */

/* The method, if its NL_IMPL promises a better one; else NULL. */
const char *method_found(const nl_impl *impl, nl_op op);
