/* The hints below a check: for each implementation that failed, the failure that teaches most.
 * SPDX-License-Identifier: MIT */
#ifndef NL_HINTS_H
#define NL_HINTS_H

#include "timing/row.h"

#include <stdio.h>

/* Remembers a failed row of an implementation, if it teaches more than those before. threads: of
 * the call. */
void hints_note(const nl_impl *impl, const row *w, int threads);

/* Calls each of them again, prints what it finds, and forgets them. */
void hints_print(FILE *to);

#endif
