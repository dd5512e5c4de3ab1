/* Candidates: the contenders of a measurement. SPDX-License-Identifier: MIT */
#pragma once

#include "timing/fixture.h"
#include "timing/limit.h"
#include "timing/measure.h"

/* One call of an implementation on a fixture, or two calls, as forward and then backward. */
typedef struct candidate {
    fixture *on[2]; /* the second may be NULL */
    const nl_impl *impl[2];
    int threads;
    bool unnamed;     /* calls nl_best(), which is impl */
    uint64_t hash[2]; /* of the arguments that were last found right */
    verdict after;    /* the first failure of a timed call's outputs */
    int which;        /* which of the two calls was verified last */
} candidate;

/* The name of the implementation that a candidate is calling; NULL: none. If a kernel ends the
 * process, an exit handler reads this name. */
extern const char *volatile candidate_calls;

/* The machine's limit: reads every input of the case once and writes every output once, with hardly
 * any arithmetic: case_bytes(). */
typedef struct limit_candidate {
    fixture *on;
    int threads;
    limit_way way;
} limit_candidate;

/* Times short trials of each way to copy, on all threads and on one; the fastest becomes a
 * candidate. Beyond a core's own caches, or if the case requests streaming, there are two
 * candidates, the fastest with ordinary stores and the fastest that streams: a shared cache may
 * hold less in the rounds than in the trials. Returns the number of candidates. */
size_t limit_candidates_make(fixture *on, int threads, limit_candidate candidates[2]);

/* Verifies the candidate on refilled buffers; returns the first failure. */
verdict candidate_verify(candidate *a);

/* Makes what measure_run() takes: every call gets the case's inputs, and after each round all
 * arguments of the last call, inputs included, are compared with the right ones. */
measure_candidate candidate_measured(candidate *a);
measure_candidate limit_candidate_measured(limit_candidate *a);
