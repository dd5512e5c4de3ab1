/* SPDX-License-Identifier: MIT */
#include "base/npy_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool put(FILE *f, const npy *a, const npy_type *type) {
    char shape[NPY_SHAPE_TEXT], dict[NPY_SHAPE_TEXT + 64];
    npy_shape_text(a, shape);
    int length =
        snprintf(dict, sizeof dict, "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }",
                 type->name, shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10; /* the data start at a multiple of 64 */
    if (fprintf(f, "\x93NUMPY\x01%c%c%c", 0, padded & 255, padded >> 8) < 0) return false;
    if (fprintf(f, "%-*s\n", padded - 1, dict) < 0) return false;
    if (a->count && fwrite(a->data, type->bytes, a->count, f) != a->count) return false;
    return fflush(f) == 0 && fsync(fileno(f)) == 0;
}

/* A new file in the target's folder, since rename() works within one file system only. */
static FILE *create_beside(const char *target, char *temporary, size_t size) {
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash + 1 - target) : 0;
    FILE *f = NULL;
    for (int i = 0; !f && i < 100; i++) {
        snprintf(temporary, size, "%.*s.npy-%ld-%d.part", folder, target, (long)getpid(), i);
        f = fopen(temporary, "wbx");
        if (!f && errno != EEXIST) break;
    }
    return f;
}

/* Writes the first array, then the others by recursion, and renames only if all succeeded. */
static bool stage(const char *const *paths, const npy *arrays, size_t count, const char *target,
                  char *temporary, size_t size, char *error, size_t error_size) {
    npy_errors to = {*paths, error, error_size};
    const npy_type *type = npy_type_of(arrays->type);
    npy a = *arrays;
    struct stat st;
    bool exists = stat(target, &st) == 0;
    if (!type || a.rank > NPY_RANK_MAX || !npy_count(&a, type->bytes))
        return npy_wrong(&to, ": type '%c' or its shape cannot be written", a.type);
    if (exists && !S_ISREG(st.st_mode))
        return npy_wrong(&to, " exists and is not a regular file: name another to write");
    if (exists && access(target, W_OK) != 0)
        return npy_wrong(&to, ": cannot write it: %s", strerror(errno));
    FILE *f = create_beside(target, temporary, size);
    if (!f) return npy_wrong(&to, ": cannot create a file beside it: %s", strerror(errno));
    bool ok = (!exists || fchmod(fileno(f), st.st_mode & 0777) == 0) && put(f, &a, type);
    int why = errno;
    if (fclose(f) != 0 && ok) ok = false, why = errno;
    if (!ok) npy_wrong(&to, ": cannot write it: %s", strerror(why));
    ok = ok && npy_write_all(paths + 1, arrays + 1, count - 1, error, error_size);
    if (ok && rename(temporary, target) != 0)
        ok = npy_wrong(&to, ": cannot rename %s to it: %s", temporary, strerror(errno));
    if (!ok) remove(temporary);
    return ok;
}

bool npy_write_all(const char *const *paths, const npy *arrays, size_t count, char *error,
                   size_t error_size) {
    if (count == 0) return true;
    char *real = realpath(*paths, NULL); /* replaces a link's target, not the link */
    const char *target = real ? real : *paths;
    size_t size = strlen(target) + 64;
    char *temporary = malloc(size);
    bool ok = temporary && stage(paths, arrays, count, target, temporary, size, error, error_size);
    if (!temporary) snprintf(error, error_size, "%.200s: out of memory", *paths);
    free(temporary);
    free(real);
    return ok;
}

bool npy_write(const char *path, char type, size_t rank, const size_t *shape, const void *data,
               char *error, size_t error_size) {
    npy a = {.type = type, .rank = rank, .data = (void *)data};
    for (size_t i = 0; i < rank && i < NPY_RANK_MAX; i++) a.shape[i] = shape[i];
    return npy_write_all(&path, &a, 1, error, error_size);
}
