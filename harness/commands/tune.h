/* How `normlab tune` derives a threshold from its measurements. SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"

/* The verdict on two states of the caches: FASTER if the verdict is FASTER in one state, and FASTER
 * or SAME in the other. */
comparison tune_both(comparison a, comparison b);

/* From verdicts at n rising sizes, the index of the smallest FASTER one with no SLOWER or SAME
 * above; n: none. *known: false if there is none because the largest sizes are not resolved. */
size_t tune_from(const comparison *verdicts, size_t n, bool *known);

/* verdicts: measured once more. Is none of them a loss between the old and the new index of a
 * threshold? */
bool tune_holds(const comparison *verdicts, size_t was, size_t now);
