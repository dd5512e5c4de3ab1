/* SPDX-License-Identifier: MIT */
#include "platform/flush.h"
#include "caches.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static bool has_clflushopt(void) {
    static int known = -1; /* a virtual machine traps CPUID */
    unsigned a, b = 0, c, d;
    if (known < 0) known = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_CLFLUSHOPT;
    return known;
}

/* Flushes lines in any order, which is much faster than clflush, which flushes one after
 * another. */
__attribute__((target("clflushopt"))) static void flush_lines(char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) _mm_clflushopt(p + i);
}
#endif

size_t last_cache_bytes(void) {
    static size_t last;
    for (int level = NL_CACHE_LEVELS; !last && level > 0; level--) last = nl_cache_bytes(level);
    if (!last) last = (size_t)32 << 20;
    return last;
}

void flush(const void *p, size_t bytes) {
#if defined(__x86_64__)
    const bool unordered = has_clflushopt();
    if (unordered) flush_lines((char *)(uintptr_t)p, bytes);
    for (size_t i = 0; i < bytes && !unordered; i += 64) _mm_clflush((const char *)p + i);
    if (bytes) _mm_clflush((const char *)p + bytes - 1);
    _mm_mfence();
#else
    static volatile char *other;
    size_t size = 2 * last_cache_bytes();
    (void)p, (void)bytes;
    if (!other) other = calloc(size, 1);
    for (size_t i = 0; other && i < size; i += 64) other[i]++;
#endif
}

bool has_streaming_stores(void) {
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}
