/* An array as in NumPy's .npy files: little-endian floats in C order.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

#include <stdio.h>

enum { NPY_RANK_MAX = 8, NPY_SHAPE_TEXT = 192 };

typedef struct npy {
    char type; /* NumPy's letters: 'e' f16, 'f' f32, 'd' f64, 'E' bf16 */
    size_t rank, shape[NPY_RANK_MAX];
    size_t count; /* elements: the product of the shape, 1 for rank 0 */
    void *data;   /* malloc'd, never NULL after npy_read */
} npy;

void npy_free(npy *a);

/* A supported element type: NumPy's letter, the name in a .npy file, our name, and the library's
 * type for it. */
typedef struct npy_type {
    char letter;
    const char *name, *our_name; /* "f4", "f32"; ml_dtypes calls bf16 "V2": two bytes */
    size_t bytes;
    nl_dtype dtype;
} npy_type;

const npy_type *npy_type_of(char letter);         /* NULL: none */
const npy_type *npy_type_named(const char *name); /* as in a file: "f4" */

double npy_value(const npy *a, size_t i); /* element i */

/* Sets the count from the shape. False: more elements than memory can address. */
bool npy_count(npy *a, size_t bytes_each);

/* The shape as Python spells it: (), (3,), (217, 384). */
void npy_shape_text(const npy *a, char text[NPY_SHAPE_TEXT]);

/* npy_wrong writes its message here, after the path, and always returns false. */
typedef struct npy_errors {
    const char *path;
    char *text;
    size_t size;
} npy_errors;

bool npy_wrong(const npy_errors *to, const char *format, ...);

/* Reads a .npy file, format versions 1.0, 2.0 and 3.0. Input is untrusted until checked. False:
 * `error` has the fault and advice, and *out is empty. */
bool npy_read(const char *path, npy *out, char *error, size_t error_size);

/* Writes a file as numpy.save does, version 1.0. Atomic: writes a temporary file beside the target
 * and renames it once it is complete. An existing target must be a writable regular file. */
bool npy_write(const char *path, char type, size_t rank, const size_t *shape, const void *data,
               char *error, size_t error_size);

/* Writes several files; renames them only after all are complete. */
bool npy_write_all(const char *const *paths, const npy *arrays, size_t count, char *error,
                   size_t error_size);
