/* Compiles a kernel that is not trusted. The compiler, which sees what no search in the text sees,
 * does the searching: first it gets the headers that are allowed, then a pragma that makes each
 * forbidden word an error, then the file. SPDX-License-Identifier: MIT */
#ifndef NL_FENCE_H
#define NL_FENCE_H

#include "workbench/compile.h"

/* Of a copy of the file in the folder of *c, where no other file is. False: error says what the
 * rules forbid, or is empty if the compiler has printed why. */
bool fence_compile(const char *file, const assignment *rules, const compiled *c, char *error,
                   size_t error_size);

#endif
