/* An .npz: a zip of .npy files, uncompressed as numpy.savez makes them. Input is untrusted until
 * checked. SPDX-License-Identifier: MIT */
#ifndef NL_NPZ_H
#define NL_NPZ_H

#include "base/npy.h"

#include <stdint.h>
#include <stdio.h>

enum { NPZ_ARRAYS = 16 }; /* at most, to write */

/* Is FILE.npz the end of the path, or FILE.npz:ARRAY? Returns ":ARRAY", the end "", or NULL. */
const char *npz_suffix(const char *path);

/* Seeks to the array of this name, whose checksum is right and whose .npy ends at *end. The message
 * begins with to->path. */
bool npz_find(FILE *f, const char *name, uint64_t *end, const npy_errors *to);

/* Atomic, as npy_write(). */
bool npz_write(const char *path, const char *const *names, const npy *arrays, size_t count,
               char *error, size_t error_size);

/* The CRC-32 of the bytes that `crc` covers and of these behind them; begin with 0. */
uint32_t npz_crc(uint32_t crc, const void *bytes, size_t size);

#endif
