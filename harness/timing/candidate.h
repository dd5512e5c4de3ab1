/* Candidates: the contenders of a measurement. SPDX-License-Identifier: MIT */
#pragma once

#include "timing/fixture.h"
#include "timing/limit.h"
#include "timing/measure.h"

/* One call of an implementation on a fixture, or two calls, such as forward and then backward. */
typedef struct candidate {
    fixture *on[2]; /* the second may be NULL */
    const nl_impl *impl[2];
    int threads;
    bool unnamed;     /* calls through nl_best(), which chooses impl */
    uint64_t hash[2]; /* checksum of the last right arguments */
    verdict after;    /* the first failure of a timed call's outputs */
    int which;        /* index of the call that was verified last */
} candidate;

/* The name of the implementation that a candidate is calling; NULL: none. If a kernel ends the
 * process, an exit handler reads this name. */
extern const char *volatile candidate_calls;

/* The machine's limit: reads every input of the case once and writes every output once
 * (case_bytes()), with hardly any arithmetic. */
typedef struct limit_candidate {
    fixture *on;
    int threads;
    limit_way way;
} limit_candidate;

/* Times short trials of each way to copy, on all threads and on one thread; the fastest way becomes
 * a candidate. On a machine with streaming stores there are two candidates, the fastest way with
 * ordinary stores and the fastest way that streams, if the case's data exceed a core's own caches
 * or the case requests streaming: a shared cache may hold less of the data in rounds than in
 * trials. Returns the number of candidates. */
size_t limit_candidates_make(fixture *on, int threads, limit_candidate candidates[2]);

/* Verifies the candidate on refilled buffers; returns the first failure. */
verdict candidate_verify(candidate *a);

/* Makes the argument of measure_run(). Every call gets the case's inputs; after each round, all
 * arguments of the last call, inputs included, are compared with the right values. */
measure_candidate candidate_measured(candidate *a);
measure_candidate limit_candidate_measured(limit_candidate *a);
