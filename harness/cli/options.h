/* Parses the command line of a command by a table of its options.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* OPTION_LOAD: a library or one .c file, whose kernels are added to the table immediately; may be
 * repeated. */
typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_NUMBER,
    OPTION_MAYBE, /* a number; if it is missing, `least` */
    OPTION_COUNT,
    OPTION_LOAD
} option_kind;

typedef struct option_spec {
    const char *name;
    option_kind kind;
    void *to;           /* a bool, const char *, double or int; set if the option is given; NULL
                 for OPTION_LOAD */
    double least, most; /* limits of a number or a count */
} option_spec;

enum { OPTIONS_MAX = 32, OPTIONS_DONE = -1, OPTIONS_HELP = -2 };

/* Parses the options in argv, whose first word is the command. The words after the options begin at
 * argv[*first]. Rejects abbreviations, empty values and, if strict, repeated options, since such an
 * option could overwrite a file by mistake. Returns OPTIONS_DONE, or the exit code after --help or
 * a message. If `help` is NULL, --help returns OPTIONS_HELP. */
int options_read(int argc, char **argv, const char *help, const option_spec *specs, size_t count,
                 bool strict, int *first);

/* Prints "normlab COMMAND: ..." with the command of the last options_read; always returns false. */
bool options_fail(const char *format, ...);

/* Is the path a readable kernel file, .c or .so? False: after a message. */
bool options_kernel(const char *path);

/* Prints "See `normlab COMMAND --help`." on stderr. Returns NL_EXIT_USAGE. */
int options_see_help(void);

/* Parses a number from least to most. False: after a message. */
bool options_number(const char *name, const char *text, double least, double most, bool whole,
                    double *out);

/* The exit codes of `normlab`: 0 success; 1 something failed verification, or nothing was compared;
 * 2 bad usage or bad input; 130 interrupted (the results so far are kept). */

enum { NL_EXIT_OK = 0, NL_EXIT_FAILED = 1, NL_EXIT_USAGE = 2, NL_EXIT_INTERRUPTED = 130 };

/* Prints ": did you mean A, B or C?" on stderr: at most three names that nearly equal the text, or
 * nearly end with a slash and the text. Prints `other` if no name is similar. */
void guess_print(const char *text, size_t length, const char *(*name)(size_t i), size_t count,
                 const char *other);

/* Timed kernels and their .scratch run in this process. If a kernel ends this process, the program
 * names the kernel. Until blame_nobody(), exit() ends the process with exit code `code`. */
void blame_watch(int code);
void blame_nobody(void);
