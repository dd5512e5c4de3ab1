/* What the verbs that take cases have in common: options and the cases themselves.
 * SPDX-License-Identifier: MIT */
#ifndef NL_OPTIONS_H
#define NL_OPTIONS_H

#include "cases/case.h"

typedef struct options {
    const char *impl; /* GLOB[@ISA], several with commas; "best"; NULL: all */
    const char *out;  /* CSV file, or NULL */
    int threads;
    bool quick, seconds_given, threads_given;
    double seconds; /* of measuring per implementation and case */
    double precision, margin;
    const char *baseline; /* GLOB[@ISA], or NULL */
    size_t processes;
    const char *errors; /* the largest errors on record, or NULL */
    bool update_errors;
    bool named; /* cases were given on the command line */
    bool race;  /* bench: no demonstrations unasked, and a name without @ISA is its widest ISA */
    case_list cases;
} options;

/* Parses argv (argv[0] is the verb) and collects the cases. Returns -1 to go on, or the exit code:
 * after --help, or after a message about what was wrong. */
int options_parse(int argc, char **argv, const char *help, options *out);

/* Threads for a case: its own option, or --threads. */
int options_threads(const options *o, const nl_case *c);

/* Does one of the GLOB[@ISA] patterns, with commas between, name the implementation? */
bool options_match(const char *patterns, const nl_impl *impl);

/* Does the implementation take the case here, and does --impl ask for it? */
bool options_want(const options *o, const nl_impl *impl, const nl_case *c);

#endif
