/* idea   Each rank computes count, mean and M2 of its own samples in two passes. One allreduce
 *        merges these triples by Chan's formula, which is a user-defined operation of MPI.
 * gain   One latency instead of two. Uneven splits need no care, since counts travel along.
 * fails  Sends three floats per channel; batchnorm_two.c sends one in each of two allreduces. The
 *        error grows with mean/sigma, as in Welford. A float holds counts exactly up to 16,777,216.
 * SPDX-License-Identifier: MIT */
#include "groups.h"

NL_INLINE void kernel(nl_view v, const nl_ranks *r) {
    nl_in_blocks(v, r, false, v.c, v.c);
}

NL_FORWARD_RUNG(batchnorm_merged, NL_BIT(NL_BATCHNORM), NL_WELFORD, false);
