/* A case made ready: its data, its answer, and the buffers it runs in.
 * SPDX-License-Identifier: MIT */
#ifndef NL_FIXTURE_H
#define NL_FIXTURE_H

#include "verify/verify.h"

typedef struct fixture {
    nl_case c;
    nl_data data;
    answer want, partial; /* partial: pRMSNorm's, computed when first verified */
    instance *in;         /* sets of buffers; several where calls rotate through them */
    size_t sets;
} fixture;

/* scratch_bytes: enough for every implementation that will run. False: error says why. */
bool fixture_make(fixture *f, const nl_case *c, size_t scratch_bytes, size_t sets, char *error,
                  size_t error_size);
void fixture_free(fixture *f);

/* The set of buffers for call number `turn`: the sets rotate. */
instance *fixture_set(const fixture *f, size_t turn);

/* Runs an implementation on refilled buffers and compares its outputs with the answer. */
verdict fixture_verify(fixture *f, const nl_impl *impl, int threads);

/* Fixtures of one shape and kind of data; requesting another evicts them. */
typedef struct fixtures {
    fixture at[8];
    size_t count;
} fixtures;

/* The fixture of a case, with scratch for all its implementations. NULL: error says why. */
fixture *fixtures_get(fixtures *all, const char *text, char *error, size_t error_size);
void fixtures_free(fixtures *all);

#endif
