/* The hints below a check: for each implementation that failed, the failure that teaches most.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "timing/row.h"

#include <stdio.h>

/* Remembers a failed row of an implementation, if it teaches more than those before. threads: of
 * the call. */
void hints_note(const nl_impl *impl, const row *w, int threads);

/* Writes what the failed cases of an implementation have in common, or nothing. */
typedef void (*hints_when)(void *context, const nl_impl *impl, char *text, size_t size);

/* Calls each remembered implementation again, prints the hints, and forgets them. A hint is on the
 * case of the failure that is shown, if its cause explains that, too. shown, when: or NULL. */
void hints_print(FILE *to, const nl_case *shown, hints_when when, void *context);
