/* Suggests what a user may have meant. SPDX-License-Identifier: MIT */
#ifndef NL_GUESS_H
#define NL_GUESS_H

#include <stddef.h>

/* Prints ": did you mean A, B or C?" on stderr: at most three of the names that nearly equal the
 * text, or nearly end with a slash and the text. If there are none, prints `other`. */
void guess_print(const char *text, size_t length, const char *(*name)(size_t i), size_t count,
                 const char *other);

#endif
