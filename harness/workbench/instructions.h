/* What a compiled kernel computes with: its instructions, as the compiler writes them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_INSTRUCTIONS_H
#define NL_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { NO_DOUBLE = 1, NO_HALF = 2 };

/* Looks at an assembly file of x86-64 or aarch64, which it changes. rules: 0, or what more is
 * forbidden, computing in double or more, conversions from and to f16. False: why names an
 * instruction that is, that calls the system or reads a clock, or what no compiler writes. */
bool instructions_allowed(char *assembly, int rules, char *why, size_t size);

#endif
