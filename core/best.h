/* Dispatch, every decision by size: which implementation, how many threads, which stores. Kernels
 * decide nothing. SPDX-License-Identifier: MIT */
#ifndef NL_BEST_H
#define NL_BEST_H

#include "normlab.h"

/* How many of the caller's threads impl gets: one if it is not threaded, or a threaded rung of
 * nl_best() and the problem is below its fork threshold; else as many as can start (parallel.h). */
int nl_threads_for(const nl_impl *impl, const nl_problem *p, int threads);

/* What each thread of a threaded row norm runs on its share of the rows: nl_best() for one thread,
 * on the rung's own ISA. Exported for kernels of --load. */
NL_API const nl_impl *nl_best_each(const nl_problem *p, int threads, const char *isa);

/* Does a thread's share of the output bypass the caches? The problem decides, else the size. */
NL_API bool nl_streams_each(const nl_problem *p, int threads);

#endif
