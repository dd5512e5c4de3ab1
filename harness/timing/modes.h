/* Modes: an implementation of LayerNorm, and an equally optimized implementation of RMSNorm.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

typedef struct mode {
    const char *name, *words, *about; /* words: the name in figures and prose (plots/modes.py) */
    const char *impl[2]; /* rungs of LayerNorm and RMSNorm; "best": the choice of nl_best() */
    bool threaded, streams;
    int transfers
        [2]; /* of whole tensors, in f32 forward without a residual; 0: x and y once each */
} mode;

extern const mode modes[];
extern const size_t modes_count;

const mode *mode_find(const char *name); /* NULL: there is none */

/* The implementation of LayerNorm (side 0) or RMSNorm (1), on the widest possible ISA; NULL: none.
 * For backward it is the plain C rung or, for an optimized mode, the choice of nl_best(), if that
 * rung has the mode's stores and threads. */
const nl_impl *mode_impl(const mode *m, int side, const nl_problem *p);

int mode_threads(const mode *m);
