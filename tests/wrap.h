/* Lets a test decide what fopen() finds in /proc and /sys, and which allocation fails. The linker
 * redirects the calls of statically linked code to these functions (--wrap).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

typedef struct fake_file {
    const char *pattern, *text; /* pattern: as in a shell, "cpu*" */
} fake_file;

extern const fake_file *
    fake_files; /* the last has a NULL pattern; fake_files NULL: the machine's own files are read */

extern long allocations_left; /* before one fails; negative: none does */
