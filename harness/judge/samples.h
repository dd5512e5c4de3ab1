/* The outputs of an implementation, called in several ways. SPDX-License-Identifier: MIT */
#ifndef NL_SAMPLES_H
#define NL_SAMPLES_H

#include "verify/instance.h"

/* The outputs of one call, as doubles; NULL: none, or the call failed. */
typedef struct sample {
    const double *of[NL_ARGS];
    double *memory;
    size_t bytes;
} sample;

/* As in a check; once more; over outputs of zeros; with scratch of zeros; with one thread; and, if
 * the case is in place, with outputs in their own buffers. */
enum { FIRST, AGAIN, OVER_ZEROS, ZERO_SCRATCH, ONE_THREAD, APART, SAMPLES };

/* Calls the instance's implementation on its case and data, in other buffers. False: the first call
 * failed, or out of memory; free the samples in any case. */
bool samples_take(const instance *of, int threads, sample out[SAMPLES]);
void samples_free(sample of[SAMPLES]);
bool sample_same(const sample *a, const sample *b); /* as far as both calls succeeded */

#endif
