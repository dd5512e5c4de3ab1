/* SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "base/replace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NPY_HEADER = NPY_SHAPE_TEXT + 192 };

static size_t npy_header(const npy *a, char out[NPY_HEADER]) {
    char shape[NPY_SHAPE_TEXT], dict[NPY_SHAPE_TEXT + 64];
    npy_shape_text(a, shape);
    int length =
        snprintf(dict, sizeof dict, "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }",
                 npy_type_of(a->type)->name, shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10; /* the data start at a multiple of 64 */
    return (size_t)sprintf(out, "\x93NUMPY\x01%c%c%c%-*s\n", 0, padded & 255, padded >> 8,
                           padded - 1, dict);
}

static bool put(FILE *f, const npy *a, const npy_type *type) {
    char header[NPY_HEADER];
    const size_t length = npy_header(a, header);
    return fwrite(header, 1, length, f) == length &&
           (!a->count || fwrite(a->data, type->bytes, a->count, f) == a->count) && fflush(f) == 0 &&
           fsync(fileno(f)) == 0;
}

/* Writes the first array, then the others by recursion, and renames only if all succeeded. */
bool npy_write_all(const char *const *paths, const npy *arrays, size_t count, char *error,
                   size_t error_size) {
    if (count == 0) return true;
    npy_errors to = {*paths, error, error_size};
    const npy_type *type = npy_type_of(arrays->type);
    npy a = *arrays;
    replacement r;
    struct stat st;
    if (!type || a.rank > NPY_RANK_MAX || !npy_count(&a, type->bytes))
        return npy_wrong(&to, ": type '%c' or its shape cannot be written", a.type);
    if (stat(*paths, &st) == 0 && !S_ISREG(st.st_mode))
        return npy_wrong(&to, " exists and is not a regular file: choose another name");
    bool ok = replace_begin(&r, *paths);
    if (!ok) return npy_wrong(&to, ": cannot write it: %s", strerror(errno));
    if (!put(r.file, &a, type)) ok = npy_wrong(&to, ": cannot write it: %s", strerror(errno));
    ok = ok && npy_write_all(paths + 1, arrays + 1, count - 1, error, error_size);
    if (!replace_end(&r, ok) && ok) return npy_wrong(&to, ": cannot write it: %s", strerror(errno));
    return ok;
}

bool npy_write(const char *path, char type, size_t rank, const size_t *shape, const void *data,
               char *error, size_t error_size) {
    npy a = {.type = type, .rank = rank, .data = (void *)data};
    for (size_t i = 0; i < rank && i < NPY_RANK_MAX; i++) a.shape[i] = shape[i];
    return npy_write_all(&path, &a, 1, error, error_size);
}
