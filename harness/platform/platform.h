/* Functions outside of the kernels that depend on the processor. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Does this thread round to nearest in full precision, keep subnormals, and have no traps? */
bool arithmetic_is_usual(void);
void arithmetic_restore(void);

/* The message about a kernel that changes these settings. */
#define ARITHMETIC_CHANGED                                                                 \
    "left floating-point arithmetic changed: the rounding mode, the precision, traps, or " \
    "subnormals taken for zero"

/* The architecture, for code that reads assembly. */
enum { PROCESSOR_OTHER, PROCESSOR_X86_64, PROCESSOR_AARCH64 };
#if defined(__x86_64__)
#define PROCESSOR PROCESSOR_X86_64
#elif defined(__aarch64__)
#define PROCESSOR PROCESSOR_AARCH64
#else
#define PROCESSOR PROCESSOR_OTHER
#endif

enum { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE, ACCESS_JUMP };

/* The kind of access (ACCESS_...) that caused SIGSEGV, from the page fault's error code or the
 * syndrome register in the signal handler's context. */
int fault_access(const void *context);

/* Evicts the bytes from all caches (x86-64: flushes cache lines; elsewhere: writes to a buffer
 * twice the size of the last-level cache). */
void flush(const void *p, size_t bytes);

/* The size of the last-level cache; 32 MiB if the machine does not report it. */
size_t last_cache_bytes(void);

/* Does this machine have streaming stores? Without them, LIMIT_STREAM uses ordinary stores. */
bool has_streaming_stores(void);
