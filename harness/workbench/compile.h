/* Compiles one kernel file into a library for load.h, with the flags of this build.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { COMMAND_WORDS = 128, COMMAND_PATH = 4096 };

typedef struct command {
    char text[5 * COMMAND_PATH];
    size_t used;
    char *argv[COMMAND_WORDS + 1];
    int count;
    bool too_long; /* true: a word did not fit */
} command;

void command_add(command *c, const char *format, ...);
void command_words(command *c, const char *words); /* separated by spaces */

/* False: it failed. `error` says why it could not run, or the command printed the reason. */
bool command_run(command *c, char *error, size_t size);

/* Runs a command on untrusted input, in the given folder, with a fixed environment, without a
 * terminal or the network, and with limits on time, memory and files. output, messages: files of
 * the folder for stdout and stderr; messages NULL: stderr. */
bool command_run_fenced(command *c, const char *folder, const char *output, const char *messages,
                        char *error, size_t size);

typedef struct compiled {
    char folder[512], library[600]; /* temporary */
    char compiler[200], headers[COMMAND_PATH], name[64];
    const char *isa;              /* the widest ISA here for a file with `vectors`, else c */
    const char *widest;           /* the widest allowed ISA; NULL: any ISA. Set before the call */
    bool own, installed, vectors; /* uses this build's compiler, installed headers, optimized/ */
} compiled;

/* The kernel gets the name try/NAME, from its file. The compiler is CC of the environment, this
 * build's compiler, or cc. False: `error` has the reason, or is "" if the compiler printed it. */
bool compile_kernel(const char *file, compiled *out, char *error, size_t error_size);

/* The first part of compile_kernel(): makes the folder, chooses the compiler and the ISA. */
bool compile_prepare(const char *file, compiled *out, char *error, size_t error_size);
/* The compiler's name and the options that all kernels get. */
void compile_flags(const compiled *c, command *to);

/* Deletes the temporary folder; a loaded library stays usable. */
void compile_remove(const compiled *c);

/* Compiles a kernel file and adds its kernel to the table. False: nothing is added; `error` has the
 * reason. */
bool compile_and_load(const char *file, compiled *out, char *error, size_t error_size);
