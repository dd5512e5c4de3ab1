/* The inputs of a case, the same bytes on every machine: a counter-based generator (Philox) and
 * basic arithmetic only, or arrays from files. SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

/* Bytes one call must move: every input read once, every output written once. */
size_t case_bytes(const nl_case *c);

/* Bytes forward keeps for backward: the saved statistics. */
size_t case_state_bytes(const nl_case *c);

typedef struct nl_data {
    void *input[NL_ARGS];  /* malloc'd pristine inputs; NULL where the case has none */
    size_t bytes[NL_ARGS]; /* of inputs and outputs; 0 where the case has none */
    float *gamma, *beta;   /* in float: the inputs, or arrays of their own */
    void *model_y;         /* the model's own output (NAME.y.npy), read only if the case spells eps,
                            * which files lack; else NULL */
} nl_data;

/* Reads x and the files beside it into the arrays of *out. */
bool data_load_files(const nl_case *c, nl_data *out, char *error, size_t error_size);

/* Allocates and fills the arrays. False: error says why (a file, memory). Does not fill MEAN and
 * RSTD of a backward case: they come from the reference (answer_make). */
bool data_make(const nl_case *c, nl_data *out, char *error, size_t error_size);
/* Sets gamma and beta of the inputs. False: out of memory. */
bool data_widen(const nl_problem *p, nl_data *d);
void data_free(nl_data *d);

/* The number of threads with which filling or copying the problem's tensors is fastest. */
int data_threads(const nl_problem *p);
