/* The caches of processor 0, as the kernel lists them. sysconf() counts those of a whole package,
 * and on a virtual machine so those of others. SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

enum { NL_CACHE_LEVELS = 4 };

/* Bytes of the data cache of a level, 1 to NL_CACHE_LEVELS; 0: there is none, or it is unknown. */
size_t nl_cache_bytes(int level);
