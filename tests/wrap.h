/* Lets a test set what fopen() finds in /proc and /sys, and which allocation fails. The linker
 * redirects the calls of statically linked code to these functions (--wrap).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

typedef struct fake_file {
    const char *pattern, *text; /* pattern: as in a shell, "cpu*" */
} fake_file;

extern const fake_file *fake_files; /* a list up to a NULL pattern; NULL: the real files */

extern long allocations_left; /* calls that succeed before one fails; negative: none fails */
