/* The few shapes of text in which Linux tells about itself, in /proc and /sys.
 * SPDX-License-Identifier: MIT */
#ifndef NL_KERNEL_FILES_H
#define NL_KERNEL_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { CPUS_MOST = 4096, KERNEL_TEXT = 4096 };

#ifdef __GNUC__
#define NL_FORMAT(at, rest) __attribute__((format(printf, at, rest)))
#else
#define NL_FORMAT(at, rest)
#endif

/* The first line of the file, without the blanks at its end. False: errno says why. */
bool kernel_read(char text[KERNEL_TEXT], const char *path, ...) NL_FORMAT(2, 3);

/* The number that follows key at the beginning of a line; key "": of the first line. */
bool kernel_number(const char *path, const char *key, double *number);

/* "0-3,8", a set of CPUs or nodes, both ways; the first returns how many. Too long a text ends in
 * "...". */
int kernel_parse_list(const char *list, bool set[CPUS_MOST]);
const char *kernel_list_text(const bool set[CPUS_MOST], char *text, size_t size);

#endif
