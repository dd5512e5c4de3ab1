/* What a compiled kernel computes with: its instructions, as the compiler writes them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_INSTRUCTIONS_H
#define NL_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { NO_DOUBLE = 1, NO_HALF = 2 };

/* Looks at an assembly file of x86-64 or aarch64, which it changes. False: why names an instruction
 * that calls the system or reads a clock, with NO_DOUBLE one that computes in double or more, with NO_HALF one that converts from or to f16, or
 * something that no compiler writes. */
bool instructions_allowed(char *assembly, int rules, char *why, size_t size);

#endif
