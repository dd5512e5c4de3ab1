/* Reading .npy files, format versions 1.0, 2.0 and 3.0, and FILE.npz:ARRAY. Input is untrusted
 * until checked. SPDX-License-Identifier: MIT */
#ifndef NL_NPY_READ_H
#define NL_NPY_READ_H

#include "base/npy.h"

/* False: error says what is wrong with the file and what to do, and *out is empty. */
bool npy_read(const char *path, npy *out, char *error, size_t error_size);

#endif
