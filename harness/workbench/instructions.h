/* Checks the instructions of a compiled kernel, in the compiler's assembly.
 * SPDX-License-Identifier: MIT */
#ifndef NL_INSTRUCTIONS_H
#define NL_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { NO_DOUBLE = 1, NO_HALF = 2 };

/* Checks the assembly of x86-64 or aarch64, and overwrites it. No instruction may call the system,
 * read a clock, or be one that no compiler writes; rules (NO_DOUBLE, NO_HALF) also forbid computing
 * in double or more, and conversions of f16. False: why names the instruction. */
bool instructions_allowed(char *assembly, int rules, char *why, size_t size);

#endif
