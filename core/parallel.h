/* A loop over [0, n) cut into one contiguous piece per thread. SPDX-License-Identifier: MIT */
#ifndef NL_PARALLEL_H
#define NL_PARALLEL_H

#include <stddef.h>

/* At most so many, and no more than this process can start and that ever help. */
int nl_team(int threads);

/* Calls body(context, begin, end) so that the pieces cover [0, n); where the cuts fall depends on n
 * and threads alone, unless nl_team() is smaller. Without OpenMP: one call. */
void nl_parallel_for(size_t n, int threads, void (*body)(void *, size_t begin, size_t end),
                     void *context);

#endif
