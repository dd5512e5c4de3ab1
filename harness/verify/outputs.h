/* Compares the outputs of a call with the answer, within a bound that follows from its method and
 * the conditioning of the data (docs/verification.md). SPDX-License-Identifier: MIT */
#pragma once

#include "verify/answer.h"
#include "verify/expected.h"

/* OK: within the bound. FAIL. DEMO: the method has no bound on some of these data (one-pass
 * variance with a large mean), so the error is shown and not judged. SKIP: did not run. */
typedef enum outcome { OUTCOME_OK, OUTCOME_FAIL, OUTCOME_DEMO, OUTCOME_SKIP } outcome;

typedef struct verdict {
    outcome outcome;
    double error_u, bound_u; /* the largest error of y or dx, and the bound there, in units */
    double largest[NL_ARGS]; /* the largest error of each output; NAN if none has a bound */
    size_t compared;         /* numbers compared; 0 is a failure */
    char why[320];           /* what failed and where, or why it did not run */
    bool batches, depends;   /* was the batch varied; does a row depend on it, as `why` says? */
} verdict;

const char *outcome_name(outcome o);

/* A FAIL; its why is `format` with `what` for %s. */
verdict failure(const char *format, const char *what);

verdict outputs_check(const instance *in, const answer *a);
