/* Replaces a file whole or not at all: writes a new file beside it, and renames that at the end.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct replacement {
    FILE *file;               /* to write into */
    char *target, *temporary; /* NULL for a device or a pipe, which are not replaced */
} replacement;

/* False: errno says why it cannot be written. Otherwise replace_end must follow. */
bool replace_begin(replacement *r, const char *path);

/* Renames the new file if `keep`, else removes it. False: the old file is unchanged; with `keep`
 * errno says why. */
bool replace_end(replacement *r, bool keep);
