/* The command line of a verb: a table of its options, and where their values go.
 * SPDX-License-Identifier: MIT */
#ifndef NL_OPTIONS_H
#define NL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_COUNT } option_kind;

typedef struct option_spec {
    const char *name;
    option_kind kind;
    void *to;           /* a bool, const char *, double or int: set where the option is given */
    double least, most; /* of a number or a count */
} option_spec;

enum { OPTIONS_MOST = 32, OPTIONS_DONE = -1, OPTIONS_HELP = -2 };

/* Takes the options out of argv, whose first word is the verb; what is left begins at argv[*first].
 * strict: no abbreviation, nothing twice, no empty value, because a file would be overwritten by
 * mistake. Returns OPTIONS_DONE, OPTIONS_HELP where --help is among them, or NL_EXIT_USAGE after
 * a message. */
int options_read(int argc, char **argv, const option_spec *specs, size_t count, bool strict,
                 int *first);

/* "normlab VERB: ..." on stderr; always false. The verb is that of the last options_read. */
bool options_fail(const char *format, ...);

/* "See `normlab VERB --help`." on stderr. Returns NL_EXIT_USAGE. */
int options_see_help(void);

/* A number from least to most, or a message. */
bool options_number(const char *name, const char *text, double least, double most, bool whole,
                    double *out);

#endif
