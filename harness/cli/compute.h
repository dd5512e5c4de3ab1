/* What `run` computes, by an implementation or by the reference. SPDX-License-Identifier: MIT */
#pragma once

#include "base/npy.h"
#include "layer.h"

typedef struct computation {
    nl_problem p;
    const nl_impl *impl;
    bool reference; /* its results replace those of impl */
    int threads;
    const void *in[NL_ARGS]; /* tensors of p.dtype, others float; NULL: absent */
    void *out[NL_ARGS];
} computation;

/* Fills the outputs. False: after a message. */
bool compute(const computation *c);
