/* `normlab bench --passes`. SPDX-License-Identifier: MIT */
#ifndef NL_BENCH_PASSES_H
#define NL_BENCH_PASSES_H

#include "cli/case_options.h"

/* Makes the passes in the folder of --out, or in a temporary one, and shows all passes of the
 * folder as one table. Returns the exit code. */
int bench_passes(const case_options *o);

#endif
