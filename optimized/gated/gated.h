/* Functions that the rungs of gated RMSNorm share. SPDX-License-Identifier: MIT */
#pragma once

#include "silu.h"

typedef struct gated_call {
    const nl_problem *p;
    const nl_forward_args *forward;
    const nl_backward_args *backward;
} gated_call;

/* How many lanes of the vector at element i lie within the row? */
NL_INLINE size_t lanes_left(size_t c, size_t i) {
    return c - i < VLEN ? c - i : VLEN;
}

/* The number of elements from p to the next aligned vector. */
NL_INLINE size_t to_vector(nl_dtype t, const void *p) {
    const size_t size = nl_dtype_size(t);
    return (VLEN - (uintptr_t)p / size % VLEN) % VLEN;
}

NL_INLINE void put_lanes(nl_dtype t, void *p, size_t i, size_t k, vf v, bool streams) {
    if (streams && k == VLEN)
        vstream(t, p, i, v);
    else
        vstore(t, p, i, k, v);
}
