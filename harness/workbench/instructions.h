/* What a compiled kernel computes with: its instructions, as the compiler writes them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_INSTRUCTIONS_H
#define NL_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Looks at an assembly file of x86-64 or aarch64, which it changes. False: why names an instruction
 * that calls the system or reads a clock, or with no_double one that computes in double or more. */
bool instructions_allowed(char *assembly, bool no_double, char *why, size_t size);

#endif
