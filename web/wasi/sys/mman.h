/* WebAssembly cannot protect pages, so buffers have no guard pages. SPDX-License-Identifier: MIT */
#pragma once

#include <stdlib.h>

enum { PROT_NONE, PROT_READ, PROT_WRITE, MAP_PRIVATE = 1, MAP_ANONYMOUS };
#define MAP_FAILED ((void *)-1)

static inline void *mmap(void *at, size_t bytes, int protection, int flags, int file, long offset) {
    (void)at, (void)protection, (void)flags, (void)file, (void)offset;
    void *map = aligned_alloc(64, (bytes + 63) / 64 * 64);
    return map ? map : MAP_FAILED;
}

static inline int mprotect(void *at, size_t bytes, int protection) {
    (void)at, (void)bytes, (void)protection;
    return 0;
}

static inline int munmap(void *at, size_t bytes) {
    (void)bytes;
    return free(at), 0;
}
