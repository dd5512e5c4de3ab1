/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <stdio.h>

static void take_finding(void *context, const error_finding *f) {
    size_t *found = context;
    if (++*found > FAILURES_MAX) return;
    fprintf(stderr, "FAIL %s\n", f->text);
    if (f->repeat) report_repeat(f->repeat, f->line->name, f->line->isa, 1);
}

bool record_compare(const error_record *e) {
    size_t found = 0;
    error_counts n = error_record_compare(e, take_finding, &found);
    if (found > FAILURES_MAX) fprintf(stderr, "(and %zu more like these)\n", found - FAILURES_MAX);
    fprintf(stderr, "largest errors: %zu compared with %s, %zu failed, %zu lines did not run\n",
            n.compared, e->path, n.failed, n.not_run);
    if (n.unknown)
        fprintf(stderr,
                "NOT COMPARED: nothing of %s is on record; `normlab check --update-errors %s` adds "
                "it.\n",
                n.unknown, e->path);
    if (n.failed)
        fprintf(stderr,
                "If this is intended, run `normlab check --update-errors %s` and commit the file "
                "with the reason.\n",
                e->path);
    return n.failed == 0 && n.compared > 0;
}

bool record_update(const error_record *e) {
    char error[700];
    size_t lines;
    bool ok = error_record_update(e, &lines, error, sizeof error);
    if (ok)
        fprintf(stderr, "largest errors: %s has %zu lines\n", e->path, lines);
    else
        fprintf(stderr, "normlab: %s\n", error);
    return ok;
}
