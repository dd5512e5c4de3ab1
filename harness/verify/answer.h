/* The expected outputs of a case, by the reference. SPDX-License-Identifier: MIT */
#pragma once

#include "cases/data.h"
#include "reference.h"

/* The part of the expected value (expected.h) of a number that is the same for all
 * implementations. */
typedef struct plain {
    double want;     /* NaN and infinities stand for themselves */
    double per_unit; /* 1 over the unit of its error; 0: only expected_at() can judge it */
} plain;

/* Computed once, shared by all implementations. */
typedef struct answer {
    ref_inputs in; /* of the reference */
    ref_outputs want;
    void *memory;
    plain *plain;         /* of each number of y or dx; NULL: not made */
    plain *sums;          /* of residual_out, likewise */
    unsigned long number; /* unique in a process */
} answer;

/* Also fills data's MEAN and RSTD in a backward case. False: out of memory. */
bool answer_make(const nl_case *c, nl_data *data, answer *out);
void answer_free(answer *a);
