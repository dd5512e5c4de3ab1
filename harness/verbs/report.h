/* Results for people and for programs: a table when stdout is a terminal, CSV when it is not or
 * into --out; progress on stderr. SPDX-License-Identifier: MIT */
#ifndef NL_REPORT_H
#define NL_REPORT_H

#include "base/stats.h"
#include "verify/verify.h"

#include <stdio.h>

/* What a timing says. Ratios are to the baseline, of time: below 1 is faster. */
typedef struct timing {
    estimate ns; /* of one call */
    double ns_min;
    double limit_gbps, limit_pct; /* plain copying of the same buffers, in the same rounds */
    bool impossible;              /* beyond the limit, by more than the noise */
    const char *baseline;
    estimate log_ratio;
    double band; /* of the baseline against itself, a log ratio */
    comparison verdict;
    size_t rounds, calls, rounds_to_go;
    const char *stopped;
} timing;

/* One line of results; docs/results.md says what every column means. */
typedef struct row {
    const nl_case *c;
    const char *impl, *isa;
    int threads;
    verdict v;
    bool timed, is_baseline;
    timing t;
    size_t scratch_bytes;
} row;

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
bool report_close(report *r); /* false: the results did not reach the disk */

/* A field and the comma behind it, quoted where it must be. */
void csv_text(FILE *out, const char *text);

bool colour_wanted(FILE *out);

/* "[12/80] 34 s left: layernorm/..." on a terminal, rewritten in place; a line every ten seconds
 * elsewhere. done == total ends it. */
void progress(size_t done, size_t total, const char *what);

/* 1234.5 ns as "1.23 us", into text. */
const char *human_ns(double ns, char text[32]);

#endif
