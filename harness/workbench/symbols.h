/* Checks what a compiled kernel calls: mathematics, memory and OpenMP's threads are allowed;
 * opening files, starting threads or processes, reading the clock and the library's layers are not.
 * SPDX-License-Identifier: MIT */
#ifndef NL_SYMBOLS_H
#define NL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

/* Checks the undefined symbols of a shared library without loading it. no_double: also forbids
 * functions in double that exist in float, such as fma(). False: why names the first forbidden one.
 * On other systems than Linux all are allowed. */
bool symbols_allowed(const char *library, bool no_double, char *why, size_t size);

#endif
