/* Results for people and for programs: a table when stdout is a terminal, CSV when it is not or
 * into --out; progress on stderr. SPDX-License-Identifier: MIT */
#ifndef NL_REPORT_H
#define NL_REPORT_H

#include "verify.h"

#include <stdio.h>

/* One line of results; docs/results.md says what every column means. */
typedef struct row {
    const nl_case *c;
    const char *impl, *isa;
    int threads;
    verdict v;
    double ns, ns_low, ns_high, ns_min; /* of one call; 0: not timed */
    size_t scratch_bytes;
} row;

typedef struct report {
    FILE *csv;   /* NULL: none */
    FILE *table; /* NULL: none */
    const char *path;
    const nl_case *last; /* whose heading was printed last */
    double first_ns;     /* of the first timed row under that heading */
    bool colour;
} report;

/* False: the file cannot be written; a message has been printed. */
bool report_open(report *r, const char *csv_path);
void report_row(report *r, const row *line);
bool report_close(report *r); /* false: the results did not reach the disk */

bool colour_wanted(FILE *out);

/* "[12/80] 34 s left: layernorm/..." on a terminal, rewritten in place; a line every ten seconds
 * elsewhere. done == total ends it. */
void progress(size_t done, size_t total, const char *what);

/* 1234.5 ns as "1.23 us", into text. */
const char *human_ns(double ns, char text[32]);

#endif
