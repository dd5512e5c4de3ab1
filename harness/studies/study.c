/* SPDX-License-Identifier: MIT */
#include "studies/study.h"
#include "base/csv.h"
#include "base/interrupt.h"

#include <stdarg.h>

void study_point(const study_out *o, const char *panel, const char *series, double x, double y) {
    if (interrupted()) return; /* an interrupted measurement gives no point */
    csv_text(o->csv, o->study);
    csv_text(o->csv, panel);
    csv_text(o->csv, series);
    fprintf(o->csv, "%.9g,%.9g\n", x, y);
}

void study_interval(const study_out *o, const char *panel, const char *series, double x,
                    estimate e) {
    char name[160];
    study_point(o, panel, series, x, e.median);
    snprintf(name, sizeof name, "%s, low", panel);
    study_point(o, name, series, x, e.low);
    snprintf(name, sizeof name, "%s, high", panel);
    study_point(o, name, series, x, e.high);
}

void study_progress(const study_out *o, size_t done, size_t total, const char *what) {
    if (o->progress) o->progress(done, total, what);
}

bool study_note(const study_out *o, const char *format, ...) {
    char text[1000];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    if (o->note) o->note(text);
    return false;
}
