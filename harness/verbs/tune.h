/* What `normlab tune` concludes from what it has measured. SPDX-License-Identifier: MIT */
#ifndef NL_TUNE_H
#define NL_TUNE_H

#include "base/stats.h"

/* Of the verdicts at n rising sizes: which is the least FASTER one with no SLOWER or SAME above it? n:
 * there is none. *known is false where that is only because the largest ones are not resolved. */
size_t tune_from(const comparison *verdicts, size_t n, bool *known);

#endif
