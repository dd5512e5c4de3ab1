/* gamma, beta, dgamma and dbeta in 16 bits: converted once a call, so that kernels see floats.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Bytes of scratch that are needed behind the kernel's own; 0: the parameters are floats. */
size_t nl_parameter_bytes(const nl_problem *p);

/* Where that begins; NULL: none is needed. */
float *nl_parameter_room(const nl_impl *impl, const nl_problem *p, void *scratch);

/* The problem with parameters in floats. */
const nl_problem *nl_in_floats(nl_problem *floats, const nl_problem *p);

/* Replace what is not NULL by arrays of floats: of the parameters' values, and of no values yet. */
void nl_parameters_in(const nl_problem *p, float *room, const void **gamma, const void **beta);
void nl_gradients_room(const nl_problem *p, float *room, void **dgamma, void **dbeta);

/* Rounds the gradients in floats to where the caller wants them; NULL: nowhere. */
void nl_gradients_out(const nl_problem *p, const float *room, void *dgamma, void *dbeta);
