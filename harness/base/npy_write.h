/* Writing .npy files, version 1.0, as numpy.save does. SPDX-License-Identifier: MIT */
#ifndef NL_NPY_WRITE_H
#define NL_NPY_WRITE_H

#include "base/npy.h"

#include <stdio.h>

/* Atomic: writes a temporary file beside the target and renames it once it is complete. An existing
 * target must be a writable regular file. */
bool npy_write(const char *path, char type, size_t rank, const size_t *shape, const void *data,
               char *error, size_t error_size);

/* Several files: none is renamed before all are complete. */
bool npy_write_all(const char *const *paths, const npy *arrays, size_t count, char *error,
                   size_t error_size);

/* For npz_write(): writes the bytes before the elements; may the path be replaced? Is all on
 * disk? */
enum { NPY_HEADER = NPY_SHAPE_TEXT + 192 };
size_t npy_header(const npy *a, char out[NPY_HEADER]);
bool npy_can_replace(const npy_errors *to);
bool npy_flush(FILE *f);

#endif
