/* What a compiled kernel may call: mathematics, memory and threads of OpenMP; nothing that opens
 * files, starts threads or processes, reads the clock, or computes a layer.
 * SPDX-License-Identifier: MIT */
#ifndef NL_SYMBOLS_H
#define NL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

/* Looks at the undefined symbols of a shared library, which is not loaded. False: why names the
 * first one that a kernel must not have; with no_double also a function that has a sister in float,
 * as fma(). Elsewhere than on Linux all are allowed. */
bool symbols_allowed(const char *library, bool no_double, char *why, size_t size);

#endif
