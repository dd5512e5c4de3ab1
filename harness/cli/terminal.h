/* Output for people: colour, progress on stderr, times and sizes with units.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Is the stream a terminal with colours, and is NO_COLOR unset? */
bool colour_wanted(FILE *out);

/* Shows "[12/80] about 34 s left: layernorm/...", rewritten in place on a terminal, or else a line
 * every ten seconds. done == total ends the display. */
void progress(size_t done, size_t total, const char *what);

/* Did Ctrl-C end the command? After Ctrl-C, also prints that the measurements so far are kept. */
bool progress_interrupted(void);

/* Clears the progress line. Call before printing anything else. */
void progress_clear(void);

/* Prints a line, folded at 100 columns on a terminal. */
void print_folded(FILE *out, int indent, const char *text);

/* Format 1234.5 ns as "1.23 us" and 65536 bytes as "64 KiB". */
const char *human_ns(double ns, char text[32]);
const char *human_bytes(size_t bytes, char text[32]);
