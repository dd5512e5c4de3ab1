/* Is an implementation right on a case? SPDX-License-Identifier: MIT */
#pragma once

#include "verify/expected.h"
#include "verify/instance.h"

#include <stdio.h>
#include <sys/types.h>

/* OK: within the bound. FAIL. DEMO: the method has no bound on some of these data (one-pass
 * variance with a large mean), so the error is shown and not judged. SKIP: did not run. */
typedef enum outcome { OUTCOME_OK, OUTCOME_FAIL, OUTCOME_DEMO, OUTCOME_SKIP } outcome;

typedef struct verdict {
    outcome outcome;
    double error_u, bound_u; /* the largest error of y or dx, and the bound there, in units */
    double largest[NL_ARGS]; /* the largest error of each output; NAN: not compared, or bound 0 */
    size_t compared;         /* numbers compared; 0 is a failure */
    char why[320];           /* what failed and where, or why it did not run */
    bool batches, depends;   /* batch_compare() varied the batch; bits of a row depend on it */
} verdict;

const char *outcome_name(outcome o);

/* Makes a FAIL whose why is `format`, with `what` for %s. */
verdict failure(const char *format, const char *what);

verdict outputs_check(const instance *in, const answer *a);

/* Calls impl on fresh buffers and checks the outputs; survives accesses outside the buffers. */
verdict verify(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               placement where, int threads);

/* Must added kernels keep a row's bits in every batch, as our own must? If false, the verdict only
 * notes a difference. */
extern bool verify_batches;

/* Checks the outputs of a call. Caches the last verdicts, since many calls give the same bits. */
verdict verify_result(const instance *in, const answer *a);

/* How examine() calls: the number of threads, and the bytes that fill outputs and scratch before
 * the call. */
typedef struct examination {
    int threads;
    unsigned char outputs, scratch;
} examination;

/* Calls impl, isolated, then lends the instance to `look`. False: no memory, or the call failed. */
bool examine(const nl_case *c, const nl_data *data, const nl_impl *impl, examination how,
             void (*look)(void *context, const instance *in), void *context);

/* impl failed on *c with *v. Tries smaller sizes, ordinary data and fewer options, for a few
 * seconds at most, and keeps in *c and *v the smallest case that fails in the same way. False:
 * found no smaller case. */
bool shrink(nl_case *c, verdict *v, const nl_impl *impl, int threads);

/* The number of threads, and callbacks, which get the context. */
typedef struct check_settings {
    int threads;
    void *context;
    bool (*selects)(void *context, const nl_impl *impl, const nl_case *c);
    /* Gets the verdict that covers both calls. */
    void (*judged)(void *context, const nl_case *c, const nl_impl *impl, const verdict *v);
    /* NULL, or gets the verdict on each of the two calls. False: out of memory. */
    bool (*noted)(void *context, const nl_case *c, const nl_impl *impl, const verdict *v);
} check_settings;

/* Verifies the implementations of one case, each twice: with guard pages at the ends of its
 * buffers, then at their starts. False: error says why. */
bool check_case(const nl_case *c, const check_settings *o, char *error, size_t error_size);

enum { CHECKERS_MAX = 8 };

/* Processes that verify the cases of a suite side by side; their verdicts come in the order of the
 * cases. */
typedef struct checkers {
    int count; /* 0: this process verifies */
    pid_t pid[CHECKERS_MAX];
    FILE *from[CHECKERS_MAX];
    unsigned char *owner; /* the checker of each case */
} checkers;

/* Starts a checker for each processor that this process may use, at most CHECKERS_MAX, and gives
 * all checkers about the same work. Checkers and this process call selects() of the settings; only
 * this process calls the other functions. */
void checkers_start(checkers *j, const nl_case *cases, size_t count,
                    check_settings (*settings)(void *context, const nl_case *c), void *context);

/* Does what check_case() does, with the verdicts that the checker of case i sends. Call it once for
 * each case, in order. */
bool checkers_next(checkers *j, size_t i, const nl_case *c, const check_settings *o, char *error,
                   size_t error_size);

void checkers_end(checkers *j);
