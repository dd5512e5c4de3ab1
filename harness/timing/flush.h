/* Getting data out of the caches. SPDX-License-Identifier: MIT */
#ifndef NL_FLUSH_H
#define NL_FLUSH_H

#include <stddef.h>

/* Leaves none of the bytes in any cache (x86-64: cache line flushes; elsewhere: reads twice the
 * last-level cache of something else). */
void flush(const void *p, size_t bytes);

/* Of the last-level cache, as the machine reports it; 32 MiB where it does not. */
size_t last_cache_bytes(void);

#endif
