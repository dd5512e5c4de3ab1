/* Kernels of a shared library (normlab_kernel.h) in the table of implementations.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

enum { LOAD_NAME = 60, LOAD_ABOUT = 200 }; /* longest text, in characters */

/* Adds the kernels of the library; origin is the file that the user named. False: no kernel is
 * added; `error` has the reason and advice. */
bool load_kernels(const char *path, const char *origin, char *error, size_t error_size);

/* Adds the kernels of FILE.so, or the kernel of FILE.c, which is compiled (compile.h). */
bool load_any(const char *file, char *error, size_t error_size);

/* Adds the only kernel of an untrusted library. Only sandboxed processes (verify/worker.h) load the
 * library, never this process. NULL: `error` has the reason. */
const nl_impl *load_distant(const char *path, char *error, size_t error_size);

/* load_origin(): the origin of a loaded kernel; NULL: it is not loaded. load_file(): the origin of
 * library number i, or NULL. */
const char *load_origin(const char *impl, const char *isa);
const char *load_file(size_t i);

/* A checksum of the loaded libraries without peers; NULL: there are none. */
const char *load_checksum(void);

/* Is the implementation valid for the table? False: `why` has the reason. */
bool load_accepts(const nl_impl *impl, char *why, size_t why_size);
