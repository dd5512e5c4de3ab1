/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"
#include "caches.h"

#include <fenv.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef __linux__
#include <ucontext.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* Reads the control registers directly: changed settings may affect a comparison of numbers, and
 * fegetround() reads only the x87 unit on x86-64. */
bool arithmetic_is_usual(void) {
#if defined(__x86_64__) && defined(__GLIBC__)
    enum { CONTROL = 0x37f, EMPTY = 0xffff, MXCSR = 0x1f80, FLAGS = 0x3f }; /* the defaults */
    fenv_t now;
    fegetenv(&now);
    return now.__control_word == CONTROL && now.__tags == EMPTY && (now.__mxcsr & ~FLAGS) == MXCSR;
#elif defined(__aarch64__) && defined(__GLIBC__)
    fenv_t now;
    fegetenv(&now);
    return now.__fpcr == 0;
#else
    return fegetround() == FE_TONEAREST;
#endif
}

void arithmetic_restore(void) {
    fesetenv(FE_DFL_ENV);
}

int fault_access(const void *context) {
#if defined(__linux__) && defined(__x86_64__)
    const ucontext_t *at = context;
    enum { WRITE = 2, FETCH = 16 };
    const long long error = at->uc_mcontext.gregs[REG_ERR];
    return error & FETCH ? ACCESS_JUMP : error & WRITE ? ACCESS_WRITE : ACCESS_READ;
#elif defined(__linux__) && defined(__aarch64__)
    const ucontext_t *at = context;
    enum { FETCH = 0x20, CLASS = 26, WRITE = 1 << 6 };
    const char *next = (const char *)at->uc_mcontext.__reserved;
    for (const struct _aarch64_ctx *head; (head = (const void *)next)->magic; next += head->size) {
        if (head->magic != ESR_MAGIC) continue;
        const unsigned long long error = ((const struct esr_context *)head)->esr;
        return error >> CLASS == FETCH ? ACCESS_JUMP : error & WRITE ? ACCESS_WRITE : ACCESS_READ;
    }
    return ACCESS_UNKNOWN;
#else
    (void)context;
    return ACCESS_UNKNOWN;
#endif
}

#if defined(__x86_64__)
static bool has_clflushopt(void) {
    static int known = -1; /* cached, because virtual machines trap CPUID */
    unsigned a, b = 0, c, d;
    if (known < 0) known = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_CLFLUSHOPT;
    return known;
}

/* Flushes lines in any order; clflush, which flushes one after another, is much slower. */
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
