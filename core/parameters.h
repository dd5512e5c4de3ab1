/* 16-bit gamma, beta, dgamma and dbeta are converted once per call, so that kernels see floats.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Bytes of scratch for converted parameters, behind the kernel's scratch; 0: none is needed. */
size_t nl_parameter_bytes(const nl_problem *p);

/* Where the converted parameters begin; NULL if there are none. */
float *nl_parameter_room(const nl_impl *impl, const nl_problem *p, void *scratch);

/* Copies p to *floats, sets floats->parameters to NL_F32, and returns floats. */
const nl_problem *nl_in_floats(nl_problem *floats, const nl_problem *p);

/* Make each pointer that is not NULL point to floats: converted parameters, or room for
 * gradients. */
void nl_parameters_in(const nl_problem *p, float *room, const void **gamma, const void **beta);
void nl_gradients_room(const nl_problem *p, float *room, void **dgamma, void **dbeta);

/* Rounds the float gradients into the caller's arrays, and skips arrays that are NULL. */
void nl_gradients_out(const nl_problem *p, const float *room, void *dgamma, void *dbeta);
