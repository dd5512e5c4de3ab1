/* Compiles one kernel file into a library for load.h, with the flags of this build.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "workbench/command.h"

typedef struct compiled {
    char folder[512], library[600]; /* temporary */
    char compiler[200], headers[COMMAND_PATH], name[64];
    const char *isa;              /* the widest that runs here if the file includes vec.h, else c */
    const char *widest;           /* not for a wider one; NULL: any. Set before the call */
    bool own, installed, vectors; /* this build's compiler; installed headers */
} compiled;

/* The kernel gets the name try/NAME, after its file. The compiler is the environment's CC, or this
 * build's, or cc. False: error says why, or is empty if the compiler has printed it. */
bool compile_kernel(const char *file, compiled *out, char *error, size_t error_size);

/* The first part of compile_kernel(): makes the folder, chooses the compiler and the ISA. */
bool compile_prepare(const char *file, compiled *out, char *error, size_t error_size);
/* The compiler's name and the options that all kernels get. */
void compile_flags(const compiled *c, command *to);

/* Deletes the library; one that is loaded stays usable. */
void compile_remove(const compiled *c);
