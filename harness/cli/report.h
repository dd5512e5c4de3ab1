/* Prints results as a table if stdout is a terminal or --out is given, and writes CSV to the file
 * of --out, or to a stdout that is no terminal. SPDX-License-Identifier: MIT */
#pragma once

#include "timing/bench.h"

#include <stdio.h>

typedef struct report {
    FILE *csv;   /* NULL: none */
    FILE *table; /* NULL: none */
    const char *path;
    const nl_case *last; /* the case of the last heading, and the kind of rows below it */
    bool last_timed;
    bool colour;
    double band;         /* the largest difference of a baseline from itself */
    const nl_case *base; /* the case of the last baseline, and the baseline's time */
    double base_ns;
    double apart; /* the largest |log(baseline's time / time) - log(speed)| */
} report;

/* report_file() opens results and writes the machine's facts beside them; without a path *csv is
 * stdout, or NULL if stdout is a terminal. report_written() closes the results, and prints where
 * they are. False: after a message. */
bool report_file(FILE **csv, const char *path, bool quick);
bool report_written(FILE *csv, const char *path);

/* Can report_file() open the results later? Changes no file. False: after a message. */
bool report_can_write(const char *path);

/* False: cannot write the file; printed a message. After this call Ctrl-C only sets a flag. */
bool report_open(report *r, const char *csv_path, bool quick);
void report_row(report *r, const row *line);
void report_busy(const report *r); /* prints a line if other work disturbed the times */

/* The number of failures that are printed; further failures appear only in the table or the CSV. */
enum { FAILURES_MAX = 20 };

/* Print on stderr the failure, its reason, and a command that repeats the call. */
void report_failure(const row *line, int threads);
void report_repeat(const nl_case *c, const char *impl, const char *isa, int threads);

/* Did Ctrl-C end the command? After Ctrl-C, also prints the number of finished cases. */
bool report_interrupted(const report *r, size_t done, size_t total);

/* After a check, each implementation that failed gets a hint, from its most instructive failure.
 * Remembers a failed row if it is more instructive than earlier ones. threads: number of threads of
 * the call. */
void hints_note(const nl_impl *impl, const row *w, int threads);

/* Writes the properties that all failed cases of an implementation share, if there are any. */
typedef void (*hints_when)(void *context, const nl_impl *impl, char *text, size_t size);

/* Calls each remembered implementation again, prints the hints, and forgets them. Prefers a hint on
 * the failure `shown`, if the cause explains it, too. shown, when: may be NULL. */
void hints_print(FILE *to, const nl_case *shown, hints_when when, void *context);
