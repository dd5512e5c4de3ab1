/* Results for people and for programs: a table when stdout is a terminal, CSV when it is not or
 * into --out. SPDX-License-Identifier: MIT */
#ifndef NL_REPORT_H
#define NL_REPORT_H

#include "timing/row.h"

#include <stdio.h>

typedef struct report {
    FILE *csv;   /* NULL: none */
    FILE *table; /* NULL: none */
    const char *path;
    const nl_case *last; /* whose heading was printed last */
    bool colour;
} report;

/* False: the file cannot be written; a message has been printed. */
bool report_open(report *r, const char *csv_path);
void report_row(report *r, const row *line);
/* Of failures, so many are told; the others are in the table or the CSV only. */
enum { FAILURES_MOST = 20 };

/* Says on stderr what failed, why, and what repeats it; threads above 1 belong to that. */
void report_failure(const row *line, int threads);
void report_repeat(const nl_case *c, const char *impl, const char *isa, int threads);

bool report_close(report *r); /* false: the results did not reach the disk */

#endif
