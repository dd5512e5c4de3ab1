/* Compiles one kernel file into a library for load.h, with the flags of this build.
 * SPDX-License-Identifier: MIT */
#ifndef NL_COMPILE_H
#define NL_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct compiled {
    char folder[512], library[600], files[600]; /* temporary; files: those that were included */
    char compiler[200];
    const char
        *isa; /* the widest that runs here if the file includes a header of vectors, else c */
} compiled;

/* The kernel is called try/NAME, after its file; the compiler is that of the environment's CC, or
 * this build's, or cc. False: error says why, or is empty if the compiler has printed it. */
bool compile_kernel(const char *file, compiled *out, char *error, size_t error_size);

/* Is it without the text of another kernel, a .c file or the rungs' own headers? Else why says. */
bool compile_is_alone(const compiled *c, char *why, size_t size);

/* Deletes the library; one that is loaded stays usable. */
void compile_remove(const compiled *c);

#endif
