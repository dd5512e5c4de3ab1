/* Steps of real models, of which norms are a part: a transformer block, and a GRU. Matrix products are
 * OpenBLAS's, norms this library's. One thread, f32. SPDX-License-Identifier: MIT */
#ifndef NL_STEP_H
#define NL_STEP_H

#include "models/state.h"

/* Bytes that step_make takes. */
size_t step_bytes(const step_shape *shape, size_t rows, size_t past, bool training);

/* Random weights, inputs and cache. False: no memory. */
bool step_make(step *s, const step_shape *shape, size_t rows, size_t past, bool training);
void step_free(step *s);

/* x to y; after it dy to dx and the gradients, of which dw keeps the last. */
void step_forward(step *s);
void step_backward(step *s);

#endif
