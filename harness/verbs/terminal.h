/* What only people see: colour, progress on stderr, times and sizes in handy units.
 * SPDX-License-Identifier: MIT */
#ifndef NL_TERMINAL_H
#define NL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A terminal that shows colour, and NO_COLOR is not set. */
bool colour_wanted(FILE *out);

/* "[12/80] about 34 s left: layernorm/..." on a terminal, rewritten in place; a line every ten
 * seconds elsewhere. done == total ends it. */
void progress(size_t done, size_t total, const char *what);

/* Clears the progress line, before something else is printed. */
void progress_clear(void);

/* 1234.5 ns as "1.23 us", 65536 bytes as "64 KiB", into text. */
const char *human_ns(double ns, char text[32]);
const char *human_bytes(size_t bytes, char text[32]);

#endif
