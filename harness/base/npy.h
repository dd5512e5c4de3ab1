/* NumPy's .npy files: little-endian floats in C order, as numpy.save writes them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_NPY_H
#define NL_NPY_H

#include <stdbool.h>
#include <stddef.h>

enum { NPY_RANK_MOST = 8, NPY_SHAPE_TEXT = 192 };

typedef struct npy {
    char type; /* NumPy's letters: 'e' f16, 'f' f32, 'd' f64 */
    size_t rank, shape[NPY_RANK_MOST];
    size_t count; /* of elements: the product of the shape, 1 for rank 0 */
    void *data;   /* malloc'd, never NULL after npy_read */
} npy;

/* Reads format versions 1.0, 2.0 and 3.0. False: error says what is wrong with the file and what to
 * do, and *out is empty. */
bool npy_read(const char *path, npy *out, char *error, size_t error_size);
void npy_free(npy *a);

/* Writes version 1.0, all of it or nothing: to a temporary file beside the target, renamed once it
 * is complete. A target that exists must be a regular file that may be written. */
bool npy_write(const char *path, char type, size_t rank, const size_t *shape, const void *data,
               char *error, size_t error_size);

/* Several at once: none is renamed before all of them are complete. */
bool npy_write_all(const char *const *paths, const npy *arrays, size_t count, char *error,
                   size_t error_size);

/* The shape as Python spells it: (), (3,), (217, 384). */
void npy_shape_text(const npy *a, char text[NPY_SHAPE_TEXT]);

#endif
