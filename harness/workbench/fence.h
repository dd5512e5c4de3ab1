/* Compiles an untrusted kernel. The compiler itself searches for forbidden words, since it expands
 * macros: it gets the allowed headers, then a pragma that makes each such word an error, then the
 * file. SPDX-License-Identifier: MIT */
#ifndef NL_FENCE_H
#define NL_FENCE_H

#include "workbench/assignment.h"
#include "workbench/compile.h"

/* As compile_kernel(), of a copy in a folder where no other file is. False: error says what the
 * rules forbid, or why it does not compile. */
bool fence_kernel(const char *file, const assignment *rules, compiled *out, char *error,
                  size_t error_size);

#endif
