/* A transformer block: attention with grouped heads, a gated or plain feed-forward part, a norm
 * before each. SPDX-License-Identifier: MIT */
#ifndef NL_BLOCK_H
#define NL_BLOCK_H

#include "models/state.h"

void block_layout(step *s, step_take *take, void *from);
void block_forward(step *s);
void block_backward(step *s);

#endif
