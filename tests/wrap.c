/* SPDX-License-Identifier: MIT */
#include "wrap.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const fake_file *fake_files;
long allocations_left = -1;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
    const bool kernels = strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
    if (!fake_files || !kernels) return __real_fopen(path, mode);
    for (const fake_file *f = fake_files; f->pattern; f++)
        if (fnmatch(f->pattern, path, 0) == 0)
            return fmemopen((void *)f->text, strlen(f->text), mode);
    return errno = ENOENT, NULL;
}

static bool fails(void) {
    if (allocations_left < 0 || allocations_left-- > 0) return false;
    return errno = ENOMEM, true;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size) {
    return fails() ? NULL : __real_realloc(old, size);
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
