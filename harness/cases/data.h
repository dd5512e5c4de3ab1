/* The inputs of a case. They are the same bytes on every machine: a counter-based generator
 * (Philox) and basic arithmetic make them, or they come from files. SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

/* Bytes that one call must move, if it reads every input once and writes every output once. */
size_t case_bytes(const nl_case *c);

/* The type in which an argument is stored. */
nl_dtype data_type(const nl_problem *p, nl_arg a);

/* Bytes of the statistics that forward saves for backward. */
size_t case_state_bytes(const nl_case *c);

typedef struct nl_data {
    void *input[NL_ARGS];  /* malloc'd; no call changes them; NULL: the case lacks it */
    size_t bytes[NL_ARGS]; /* size of each input and output; 0: the case lacks it */
    float *gamma, *beta;   /* as floats: the inputs themselves, or converted copies */
} nl_data;

/* Allocates and fills the arrays. False: error says why (a file, memory). Does not fill MEAN and
 * RSTD of a backward case: answer_make() takes them from the reference. */
bool data_make(const nl_case *c, nl_data *out, char *error, size_t error_size);
/* Sets d->gamma and d->beta. False: out of memory. */
bool data_widen(const nl_problem *p, nl_data *d);
void data_free(nl_data *d);

/* The number of threads with which filling or copying the problem's tensors is fastest. */
int data_threads(const nl_problem *p);
