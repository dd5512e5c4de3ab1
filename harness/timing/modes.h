/* Ways of executing a norm: LayerNorm in some implementation, and RMSNorm in its counterpart of equal
 * engineering. SPDX-License-Identifier: MIT */
#ifndef NL_MODES_H
#define NL_MODES_H

#include "normlab.h"

typedef struct mode {
    const char *name, *about;
    const char *impl[2]; /* LayerNorm's and RMSNorm's; "best": what nl_best() takes */
    bool threaded;
    int transfers
        [2]; /* of whole tensors, in f32 without a residual, where they are more than two */
    int reads, copies; /* passes RMSNorm does not make: copies go over stored tensors; reads over
                          them too, or without copies over a row that is in the first-level cache */
} mode;

extern const mode modes[];
extern const size_t modes_count;

const mode *mode_find(const char *name); /* NULL: there is none */

/* The implementation of side 0 or 1 for the problem, on the widest ISA that has it; NULL: none. Backward
 * it is the one in plain C, or for what is optimized the best of those that
 * store and thread alike. */
const nl_impl *mode_impl(const mode *m, int side, const nl_problem *p);

int mode_threads(const mode *m);

#endif
