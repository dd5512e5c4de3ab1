/* idea   A row is too long for one rank, so each rank has some of its features. One allreduce
 *        merges all rows' partial results: Chan's triples (LayerNorm), sums of squares (RMSNorm).
 * gain   One latency for all rows, not one for each. RMSNorm sends a third of the bytes.
 * fails  No rank computes while the message travels.
 * SPDX-License-Identifier: MIT */
#include "groups.h"

NL_INLINE void kernel(nl_view v, const nl_ranks *r) {
    nl_in_blocks(v, r, true, v.n, v.n);
}

NL_FORWARD_RUNG(rows_features, NL_ROW_NORMS, NL_WELFORD, true);
