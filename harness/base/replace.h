/* Replaces a file completely or not at all: writes a new file beside the old file, then renames it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct replacement {
    FILE *file;               /* the caller writes here */
    char *target, *temporary; /* temporary NULL: writes directly to a device or a pipe */
} replacement;

/* False: cannot write, for the reason in errno. True: the caller must call replace_end. */
bool replace_begin(replacement *r, const char *path);

/* With `keep` renames the new file, otherwise removes it. False: the old file is unchanged; with
 * `keep`, errno has the reason. */
bool replace_end(replacement *r, bool keep);
