/* Finds why an implementation failed a case: repeats the call in several ways, locates the wrong
 * numbers, and finds the known mistake that reproduces them. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/mechanism.h"
#include "verify/expected.h"
#include "verify/instance.h"

typedef struct hint {
    char where[400];  /* "y is wrong in every element; mean is right"; empty: all right in this
                       * call */
    char number[140]; /* "the first: y[0][7] is 1.5, should be 2.5" */
    char cause[400];  /* the cause, or what was tried */
    bool known;       /* is the cause known? */
    mechanism m; /* m.likely: number of mistakes that reproduce the numbers; 0: no known mistake */
} hint;

/* Keeps only the likely mistakes that also explain the whole error of `other`. If there are none,
 * returns false and keeps all. */
bool hint_narrow(hint *h, const hint *other);

/* Makes the same case with another row length. False: not possible. */
bool hint_resize(const nl_case *c, size_t features, nl_case *out);

/* False: out of memory, or the call failed. */
bool hint_make(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               int threads, hint *out);

/* The outputs of one call, as doubles. NULL: the call failed or lacks the output. */
typedef struct sample {
    const double *of[NL_ARGS];
    double *memory;
    size_t bytes;
} sample;

/* The calls, in order: as in a check; again; over outputs of zeros; with scratch of zeros; with one
 * thread; if the case is in place, with outputs in their own buffers. */
enum { FIRST, AGAIN, OVER_ZEROS, ZERO_SCRATCH, ONE_THREAD, APART, SAMPLES };

/* Calls the instance's implementation on its case and data, in other buffers. False: the first call
 * failed, or out of memory; free the samples in any case. */
bool samples_take(const instance *of, int threads, sample out[SAMPLES]);
void samples_free(sample of[SAMPLES]);
bool sample_same(const sample *a, const sample *b); /* also true if a call failed */

/* Finds an implementation's method by its errors on rows whose means grow. Returns the method if
 * NL_IMPL promises a better one; else NULL. */
const char *method_found(const nl_impl *impl, nl_op op);
