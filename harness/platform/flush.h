/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Evicts the bytes from all caches (x86-64: flushes cache lines; elsewhere: writes to a buffer
 * twice the size of the last-level cache). */
void flush(const void *p, size_t bytes);

/* The size of the last-level cache; 32 MiB where the machine does not report it. */
size_t last_cache_bytes(void);

/* Does this machine have streaming stores? Without them LIMIT_STREAM is ordinary. */
bool has_streaming_stores(void);
