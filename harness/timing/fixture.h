/* A case prepared to run: data, answer and buffers. Before a call the fixture restores the inputs
 * that calls overwrite, and brings the caches into the state that the case names.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "verify/verify.h"

typedef struct fixture {
    nl_case c;
    nl_data data;
    answer want, partial; /* partial: pRMSNorm's answer, computed at the first verification */
    instance *in;         /* the sets of buffers; calls rotate through them */
    size_t sets;
    size_t calls;   /* since fixture_verify(); at a multiple of `sets`, all sets are restored */
    instance *last; /* the set of the last call */
} fixture;

/* scratch_bytes: enough for every implementation that will run. shared: NULL, or memory for one
 * set, shared with other processes. False: `error` has the reason. */
bool fixture_make(arena *shared, fixture *f, const nl_case *c, size_t scratch_bytes, size_t sets,
                  char *error, size_t error_size);
void fixture_free(fixture *f);

/* The set of buffers for the next call: the sets rotate. */
instance *fixture_next(fixture *f);

/* Call this before a series of calls. In the set that the last call will use, restores the case's
 * inputs and fills the outputs with NaN, so that errors in this set come from these calls. */
void fixture_begin(fixture *f, size_t calls);

/* Is fixture_prepare() necessary before every call? fixture_prepare() restores on `threads`
 * threads, so that each core's cache has the same contents as after a call (docs/measuring.md). */
bool fixture_needs_care(const fixture *f);
void fixture_prepare(fixture *f, int threads);

/* Runs an implementation on refilled buffers and compares its outputs with the answer. */
verdict fixture_verify(fixture *f, const nl_impl *impl, int threads);

/* Checks the outputs of the last call. */
verdict fixture_check(fixture *f, const nl_impl *impl);

/* Caches the fixtures of one shape and kind of data; another shape or kind evicts them. */
typedef struct fixtures {
    fixture at[8];
    size_t count;
} fixtures;

/* The fixture of a case, with scratch for all its implementations. NULL: `error` has the reason. */
fixture *fixtures_get(fixtures *all, const char *text, char *error, size_t error_size);
void fixtures_free(fixtures *all);

/* pRMSNorm of Zhang & Sennrich 2019: RMSNorm with statistics from only the first features of a row,
 * here 1/16 = 6.25 %, as in most tables of the paper. pRMSNorm computes another function than
 * RMSNorm, so it has its own answer and is not in the table of implementations. */

extern const nl_impl partial_impl;

/* The number of features that the statistics read: c / 16, at least one. */
size_t partial_features(size_t c);

/* The answer of pRMSNorm: RMSNorm with the mean square of the first features only. */
bool partial_answer(const nl_case *c, nl_data *data, answer *out);
