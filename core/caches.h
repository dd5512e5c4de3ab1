/* Cache sizes of processor 0, from Linux' /sys. sysconf() would count the caches of the whole
 * package; on a virtual machine, also those of other guests. SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

enum { NL_CACHE_LEVELS = 4 };

/* Bytes of the data cache of a level, 1 to NL_CACHE_LEVELS; 0: no such cache, or unknown size. */
size_t nl_cache_bytes(int level);
