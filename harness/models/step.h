/* Steps of real models: a transformer block and a GRU. Matrix products by OpenBLAS, norms by this
 * library, on one thread, in f32. SPDX-License-Identifier: MIT */
#ifndef NL_STEP_H
#define NL_STEP_H

#include "models/state.h"

/* The bytes that step_make allocates. */
size_t step_bytes(const step_shape *shape, size_t rows, size_t past, bool training);

/* Allocates a step, with random weights, inputs and cache. False: out of memory. */
bool step_make(step *s, const step_shape *shape, size_t rows, size_t past, bool training);
void step_free(step *s);

/* Forward: x to y. Then backward: dy to dx and the gradients, of which dw keeps the last. */
void step_forward(step *s);
void step_backward(step *s);

#endif
