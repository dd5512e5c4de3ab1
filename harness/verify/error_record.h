/* The largest errors on record: a file with what each implementation has ever needed of its bound in
 * the built-in suite, so that an error that grows within a loose bound is noticed
 * (docs/verification.md). SPDX-License-Identifier: MIT */
#ifndef NL_ERROR_RECORD_H
#define NL_ERROR_RECORD_H

#include "verify/outputs.h"

enum { KINDS_MOST = 64, LINES_PER_IMPL = NL_OPS * NL_PASSES * NL_DTYPES };

/* What one implementation did on one problem: a line of the file, a column for each kind of data. */
typedef struct error_line {
    const char *name, *isa;
    char problem[40];     /* "layernorm/forward/f32"; "" where nothing was noted */
    const nl_impl *impl;  /* NULL: not in the table */
    size_t number;        /* in the file */
    double u[KINDS_MOST]; /* the largest error in units; NAN: none */
    const nl_case *where[KINDS_MOST];
} error_line;

typedef struct error_record {
    const char *path;
    char kinds[KINDS_MOST][sizeof((nl_case *)0)->data]; /* the columns, those of the file first */
    size_t kind_count;
    char *text; /* the file's, which its lines point into */
    error_line *file;
    size_t file_count;
    error_line *now; /* some for each implementation, in the order of the table */
    size_t now_count;
    bool *ran; /* by implementation */
} error_record;

/* Takes note of a verdict; only what is held to a bound counts. c must outlive e. */
void error_record_note(error_record *e, const nl_impl *impl, const nl_case *c, const verdict *v);

/* What is wrong with the record, or with what was noted. */
typedef struct error_finding {
    const error_line *line; /* NULL: it is not about one line */
    const nl_case *repeat;  /* shows it again; NULL: no single case does */
    char text[700];
} error_finding;

typedef struct error_counts {
    size_t compared, failed, idle; /* numbers; findings; lines of the file that are left alone */
} error_counts;

/* Everything noted against the record: what is higher, what is not on record, and what is and was
 * not measured, each a finding. Lines of what did not run are left alone. */
error_counts error_record_compare(const error_record *e,
                                  void (*take)(void *context, const error_finding *f),
                                  void *context);

/* The column of a kind of data, a new one if need be; KINDS_MOST: there is no more room. */
size_t error_record_column(error_record *e, const char *data);

/* Is it a line of the file that this run has nothing to say about: of what did not run? */
bool error_record_idle(const error_record *e, const error_line *l);

/* By name, ISA and problem, as strcmp. */
int error_record_order(const void *a, const void *b);

#endif
