/* A GRU with a norm for each gate. SPDX-License-Identifier: MIT */
#ifndef NL_GRU_H
#define NL_GRU_H

#include "models/state.h"

void gru_layout(step *s, step_take *take, void *from);
void gru_forward(step *s);
void gru_backward(step *s);

#endif
