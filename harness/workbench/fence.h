/* Compiles an untrusted kernel. The compiler itself searches for forbidden words, since it expands
 * macros: it gets the allowed headers, then a pragma that makes each such word an error, then the
 * file. SPDX-License-Identifier: MIT */
#pragma once

#include "workbench/assignment.h"
#include "workbench/compile.h"

#include <stdbool.h>
#include <stddef.h>

/* Like compile_kernel(), for a copy that is alone in its folder. False: error says what the rules
 * forbid, or why it does not compile. */
bool fence_kernel(const char *file, const assignment *rules, compiled *out, char *error,
                  size_t error_size);

/* What a compiled kernel calls: mathematics, memory and OpenMP's threads are allowed; opening files,
 * starting threads or processes, reading the clock and the library's layers are not. */

/* Checks the undefined symbols of a shared library without loading it. no_double: also forbids
 * functions in double that exist in float, such as fma(). False: why names the first forbidden one.
 * On other systems than Linux all are allowed. */
bool symbols_allowed(const char *library, bool no_double, char *why, size_t size);

/* Checks the instructions of a compiled kernel, in the compiler's assembly. */

enum { NO_DOUBLE = 1, NO_HALF = 2 };

/* Checks the assembly of x86-64 or aarch64, and overwrites it. No instruction may call the system,
 * read a clock, or be one that no compiler writes; rules (NO_DOUBLE, NO_HALF) also forbid computing
 * in double or more, and conversions of f16. False: why names the instruction. */
bool instructions_allowed(char *assembly, int rules, char *why, size_t size);
