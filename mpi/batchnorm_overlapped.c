/* idea   Channels do not wait for each other. While the moments of one block of channels travel,
 *        this rank stores y of the block before, and computes the moments of the block after.
 * gain   Hides the network behind the computation, if MPI moves messages while no MPI call runs.
 * fails  Needs one allreduce for each block, which costs BLOCKS times as much if latency dominates.
 *        Most MPI libraries make progress only inside their calls, so little may overlap.
 * SPDX-License-Identifier: MIT */
#include "groups.h"

enum { BLOCKS = 4 };

NL_INLINE void kernel(nl_view v, const nl_ranks *r) {
    nl_in_blocks(v, r, false, v.c, (v.c + BLOCKS - 1) / BLOCKS);
}

NL_FORWARD_RUNG(batchnorm_overlapped, NL_BIT(NL_BATCHNORM), NL_WELFORD, false);
