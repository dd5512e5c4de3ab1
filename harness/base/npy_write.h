/* Writing .npy files, version 1.0, as numpy.save does. SPDX-License-Identifier: MIT */
#ifndef NL_NPY_WRITE_H
#define NL_NPY_WRITE_H

#include "base/npy.h"

/* All of it or nothing: to a temporary file beside the target, renamed once it is complete. A target
 * that exists must be a regular file that may be written. */
bool npy_write(const char *path, char type, size_t rank, const size_t *shape, const void *data,
               char *error, size_t error_size);

/* Several at once: none is renamed before all of them are complete. */
bool npy_write_all(const char *const *paths, const npy *arrays, size_t count, char *error,
                   size_t error_size);

#endif
