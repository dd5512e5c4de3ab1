/* idea   A row is longer than what one rank should hold, so each rank has some of its features. The
 *        partial results of all rows go into one allreduce: Chan's triple for LayerNorm, the sum of
 *        squares for RMSNorm.
 * gain   One latency for all rows, not one for each; a third of the bytes for RMSNorm.
 * fails  No rank computes while the message travels.
 * SPDX-License-Identifier: MIT */
#include "groups.h"

NL_INLINE void kernel(nl_view v, const nl_ranks *r) {
    nl_in_blocks(v, r, true, v.n, v.n);
}

NL_FORWARD_RUNG(rows_features, NL_ROW_NORMS, NL_WELFORD, true);
