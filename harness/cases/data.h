/* The inputs of a case, the same bytes on every machine: a counter-based generator (Philox) and
 * basic arithmetic only, or arrays from files. SPDX-License-Identifier: MIT */
#ifndef NL_DATA_H
#define NL_DATA_H

#include "cases/case.h"

/* Kinds of data, by name, with ":K" where they take a number or a file:
 *   normal       N(0, 1)
 *   uniform      U(-1, 1)
 *   offset:K     K + N(0, 1): the mean is K sigma
 *   scale:K      K * N(0, 1)
 *   constant     every group (row or channel) is one value
 *   outliers     N(0, 1) with a few channels 50 times larger, as in activations of language models
 *   exact        small integers whose mean and variance no order of summation rounds
 *   zeros, nan, inf, huge, tiny      special values in some groups
 *   museum:NAME  what a public bug report is about: museum.h
 *   npy:FILE     x from FILE; from NAME.x.npy also NAME.gamma.npy and NAME.beta.npy
 */
bool data_known(const char *kind);
const char *data_kinds(void);

/* For shape `file`: takes n and c from the case's npy file. */
bool data_file_shape(nl_case *c, char *error, size_t error_size);

/* The arrays of a call; inputs are filled by data_make. */
typedef enum slot {
    X,
    RESIDUAL, /* of forward; of backward dresidual */
    DY,
    GAMMA,
    BETA,
    MEAN,
    RSTD,
    RUNNING_MEAN,
    RUNNING_VAR,
    Y,
    RESIDUAL_OUT,
    DX,
    DGAMMA,
    DBETA,
    SLOTS
} slot;

typedef struct nl_data {
    void *input[SLOTS];  /* malloc'd pristine inputs; NULL where the case has none */
    size_t bytes[SLOTS]; /* of inputs and outputs; 0 where the case has none */
    void *model_y;       /* what a model itself made of x (NAME.y.npy), or NULL; only where the case
                            spells eps, since the file does not say which one the model used */
} nl_data;

/* Reads x, and what lies beside it, into the arrays of *out. */
bool data_load_files(const nl_case *c, nl_data *out, char *error, size_t error_size);

/* False: error says why (a file, memory). MEAN and RSTD of a backward case are left for the
 * caller, who knows the reference. */
bool data_make(const nl_case *c, nl_data *out, char *error, size_t error_size);
void data_free(nl_data *d);

/* Threads that are worth waking for the problem's tensors. */
int data_threads(const nl_problem *p);

const char *slot_name(slot s);

#endif
