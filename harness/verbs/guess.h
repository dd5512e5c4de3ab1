/* What a user may have meant. SPDX-License-Identifier: MIT */
#ifndef NL_GUESS_H
#define NL_GUESS_H

#include <stddef.h>

/* Prints ": did you mean A, B or C?" on stderr: at most three of the count names, each once, that the
 * text nearly is, or that nearly end with it after a slash. If there are none, prints `other`. */
void guess_print(const char *text, size_t length, const char *(*name)(size_t i), size_t count,
                 const char *other);

#endif
