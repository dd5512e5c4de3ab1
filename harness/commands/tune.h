/* How `normlab tune` derives a threshold from its measurements. SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"

/* Combines the verdicts on two states of the caches. FASTER: one verdict is FASTER, and the other
 * verdict is FASTER or SAME. */
comparison tune_both(comparison a, comparison b);

/* verdicts: one for each of n rising sizes. Returns the index of the smallest size that is FASTER
 * and has no SLOWER or SAME above it; n: none. *known becomes false if no such
 * size is found because the largest sizes are not resolved. */
size_t tune_from(const comparison *verdicts, size_t n, bool *known);

/* verdicts: from a second measurement. False if the threshold's new index `now` loses at any size
 * between it and the old index. */
bool tune_holds(const comparison *verdicts, size_t was, size_t now);
