/* The options and cases of the commands that take cases.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

typedef struct case_options {
    const char *impl; /* GLOB[@ISA], several with commas; "best"; NULL: all but peers */
    const char *out;  /* CSV file, or NULL */
    int threads;
    bool quick;
    double seconds, quick_seconds; /* per implementation and case, without and with --quick */
    double precision, margin;
    const char *baseline; /* GLOB[@ISA], or NULL */
    int passes;           /* bench: passes in fresh processes; 0: measure in this process */
    const char *errors;   /* file of the largest errors on record, or NULL */
    bool update_errors;
    double also_long; /* check --long: seconds of drawn cases; below 0: no --long */
    int seed;         /* check: seed of the drawn cases */
    bool first;       /* check: stop at the first failure */
    bool batch;       /* check: a loaded kernel fails if a row's bits depend on its batch */
    bool named;       /* cases were given on the command line */
    bool race; /* bench: no demonstrations by default; a name without @ISA means its widest ISA */
    case_list cases;
} case_options;

/* Parses argv (argv[0] is the command), with the options that `help` lists, and collects the cases.
 * Before the call, *out has the command's default threads and seconds. Returns -1 to continue, or
 * the exit code after --help or an error message. */
int case_options_read(int argc, char **argv, const char *help, case_options *out);

/* Threads of a case: from the case's own option, or from --threads. */
int case_options_threads(const case_options *o, const nl_case *c);

/* Does the implementation accept the case, and does --impl select it? */
bool case_options_selects(const case_options *o, const nl_impl *impl, const nl_case *c);

bool case_options_is_baseline(const case_options *o, const nl_impl *impl, const nl_case *c);

/* Does one of the GLOB[@ISA] patterns, separated by commas, match the implementation? */
bool impl_matches(const char *patterns, const nl_impl *impl);

/* Prints that no implementation matches the pattern, and suggests similar names. */
void impl_unknown(const char *pattern, size_t length);
