/* Replaces a file whole or not at all: what is written goes into a new file beside it, which takes
 * its name at the end. SPDX-License-Identifier: MIT */
#ifndef NL_REPLACE_H
#define NL_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct replacement {
    FILE *file;               /* to write into */
    char *target, *temporary; /* NULL where there is no name to take: a device or a pipe */
} replacement;

/* False: errno says why it cannot be written. Otherwise replace_end must follow. */
bool replace_begin(replacement *r, const char *path);

/* The new file takes the name if `keep`, else it is removed. False: the old file is as it was, and
 * if keep, errno says why. */
bool replace_end(replacement *r, bool keep);

#endif
