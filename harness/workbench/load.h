/* Kernels of a shared library (normlab_kernel.h) in the table of implementations.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

enum { LOAD_NAME = 60, LOAD_ABOUT = 200 }; /* the longest, in characters */

/* Adds the kernels of the library; origin is the file that the user named. False: none is added,
 * and error says why and what to do. */
bool load_kernels(const char *path, const char *origin, char *error, size_t error_size);

/* Adds the one kernel of an untrusted library. Only sandboxed processes load it (verify/worker.h),
 * never this one. NULL: error says why. */
const nl_impl *load_distant(const char *path, char *error, size_t error_size);

/* The origin of a loaded kernel; NULL: it is not loaded. The origin of library number i. */
const char *load_origin(const char *impl, const char *isa);
const char *load_file(size_t i);

/* May the implementation be in the table? False: why says what is wrong. */
bool load_accepts(const nl_impl *impl, char *why, size_t why_size);
