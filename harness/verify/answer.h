/* The right outputs of a case, by the reference. SPDX-License-Identifier: MIT */
#ifndef NL_ANSWER_H
#define NL_ANSWER_H

#include "cases/data.h"
#include "reference.h"

/* Computed once, shared by all implementations. */
typedef struct answer {
    ref_inputs in; /* of the reference */
    ref_outputs want;
    void *memory;
    unsigned long number; /* no two answers of a process share it */
} answer;

/* Also fills data's MEAN and RSTD in a backward case. False: out of memory. */
bool answer_make(const nl_case *c, nl_data *data, answer *out);
void answer_free(answer *a);

#endif
