/* The largest errors on record: a file with each implementation's largest error in the built-in
 * suite, so that an error that grows within a loose bound is noticed (docs/verification.md).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "verify/verify.h"

enum { KINDS_MAX = 64, LINES_PER_IMPL = NL_OPS * NL_PASSES * NL_DTYPES * NL_ARGS };

/* A line of the file: one implementation's errors of one output on one problem, with a column for
 * each kind of data. */
typedef struct error_line {
    const char *name, *isa;
    char problem[64];    /* "layernorm/forward/f32", "layernorm/forward/rstd" */
    const nl_impl *impl; /* NULL: not in the table */
    size_t number;       /* line number in the file */
    double u[KINDS_MAX]; /* the largest error in units; NAN: none */
    const nl_case *where[KINDS_MAX];
} error_line;

typedef struct error_record {
    const char *path;
    char kinds[KINDS_MAX][sizeof((nl_case *)0)->data]; /* the columns; the file's come first */
    size_t kind_count;
    char *text; /* text of the file; the lines point into the text */
    error_line *file;
    size_t file_count;
    error_line **now; /* this run's lines: LINES_PER_IMPL for each implementation, in table order */
    size_t now_count;
    bool *ran; /* for each implementation: did it run? */
} error_record;

/* Notes a verdict, if the errors were checked against a bound. c must outlive e. False: out of
 * memory. */
bool error_record_note(error_record *e, const nl_impl *impl, const nl_case *c, const verdict *v);

/* A difference between the record and this run. */
typedef struct error_finding {
    const error_line *line; /* NULL: not about one line */
    const nl_case *repeat;  /* a case that reproduces it, or NULL */
    char text[700];
} error_finding;

typedef struct error_counts {
    size_t compared, failed, not_run; /* numbers compared; findings; lines of rungs not run */
    const char *unknown;              /* an ISA that ran but has no line in the file; NULL: none */
} error_counts;

/* Compares this run with the record. Findings: an error larger than on record, an error that is not
 * on record, and a recorded error that was not measured. Ignores lines of implementations that did
 * not run, and an ISA without a line. */
error_counts error_record_compare(const error_record *e,
                                  void (*take)(void *context, const error_finding *f),
                                  void *context);

/* Returns the column of `data` ("offset:16": "offset"); adds a missing one. KINDS_MAX: no room. */
size_t error_record_column(error_record *e, const char *data);

/* Does the line belong to an implementation that did not run? */
bool error_record_not_run(const error_record *e, const error_line *l);

/* Compares name, ISA and problem; returns what strcmp() would. */
int error_record_order(const void *a, const void *b);

/* Reads the record, a CSV. The columns are the problem, all implementations with these errors (each
 * with its instruction sets), and the kinds of data. With update, the file need not exist yet.
 * False: error says why. */
bool error_record_open(error_record *e, const char *path, bool update, char *error,
                       size_t error_size);
void error_record_close(error_record *e);

/* Rewrites the lines of the implementations that ran. *lines: the new number of lines. False: error
 * says why. */
bool error_record_update(const error_record *e, size_t *lines, char *error, size_t error_size);
