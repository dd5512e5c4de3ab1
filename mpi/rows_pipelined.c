/* idea   Works on blocks of rows. While the partial results of a block travel, this rank stores y
 *        of the block before, and reads the block after.
 * gain   Hides the network behind the computation, and a block of ROWS rows may still be in a cache
 *        when its y is computed.
 * fails  Pays one latency for each block, as batchnorm_overlapped.c does.
 * SPDX-License-Identifier: MIT */
#include "groups.h"

enum { ROWS = 64 };

NL_INLINE void kernel(nl_view v, const nl_ranks *r) {
    nl_in_blocks(v, r, true, v.n, ROWS);
}

NL_FORWARD_RUNG(rows_pipelined, NL_ROW_NORMS, NL_WELFORD, true);
