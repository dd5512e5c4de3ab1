/* A loop over [0, n) in one contiguous piece per thread. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* The number of threads that a call gets: the least of `threads`, max(64, 4 per processor), the
 * thread limit of OpenMP, and the number that the process can start. */
int nl_team(int threads);

/* Calls body(context, begin, end) for each piece, in parallel if the library has OpenMP. The pieces
 * cover [0, n) and depend only on n and `threads`, unless nl_team() is smaller. Exported for
 * kernels of --load. */
NL_API void nl_parallel_for(size_t n, int threads, void (*body)(void *, size_t begin, size_t end),
                            void *context);
