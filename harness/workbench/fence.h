/* Compiles an untrusted kernel. The compiler searches for forbidden words, because only the
 * compiler expands macros. Its input is the allowed headers, then a pragma that makes each
 * forbidden word an error, then the file. SPDX-License-Identifier: MIT */
#pragma once

#include "workbench/assignment.h"
#include "workbench/compile.h"

#include <stdbool.h>
#include <stddef.h>

/* Like compile_kernel(), but compiles a copy of the file, alone in its folder, which must keep the
 * rules. False: `error` names the broken rule, or the reason why the kernel does not compile. */
bool fence_kernel(const char *file, const assignment *rules, compiled *out, char *error,
                  size_t error_size);

/* The calls of a compiled kernel: mathematics, memcpy() and the like, printing and OpenMP's threads
 * are allowed. Allocation, files, other threads, processes, the clock and our layers are not. */

/* Checks the undefined symbols of a shared library without loading it. no_double: also forbids
 * functions in double that exist in float, such as fma(). False: `why` names the first forbidden
 * symbol. Outside Linux all symbols are allowed. */
bool symbols_allowed(const char *library, bool no_double, char *why, size_t size);

/* Checks the instructions of a compiled kernel, in the compiler's assembly. */

enum { NO_DOUBLE = 1, NO_HALF = 2 };

/* Checks the assembly of x86-64 or aarch64, and overwrites the text. Forbidden are instructions
 * that call the system, read a clock, or never come from a compiler. NO_DOUBLE and NO_HALF forbid
 * computing in double or more, and conversions of f16. False: `why` names the instruction. */
bool instructions_allowed(char *assembly, int rules, char *why, size_t size);
