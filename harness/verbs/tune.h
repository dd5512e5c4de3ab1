/* How `normlab tune` derives a threshold from its measurements. SPDX-License-Identifier: MIT */
#ifndef NL_TUNE_H
#define NL_TUNE_H

#include "base/stats.h"

/* Of two states of the caches: FASTER if it is in one, and neither slower nor unknown in the other.
 */
comparison tune_both(comparison a, comparison b);

/* From verdicts at n rising sizes, the index of the smallest FASTER one with no SLOWER or SAME
 * above; n: none. *known: false if there is none because the largest sizes are not resolved. */
size_t tune_from(const comparison *verdicts, size_t n, bool *known);

/* Verdicts measured once more: does none lose between a threshold that was at one index and is now
 * at another? */
bool tune_holds(const comparison *verdicts, size_t was, size_t now);

#endif
