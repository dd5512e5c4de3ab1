/* Runs a study and looks up its points. SPDX-License-Identifier: MIT */
#pragma once

#include "studies/study.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

/* Makes the points of a quick run, as CSV. */
static inline char *points(const study *s) {
    static char *text; /* static, because the stream keeps its address */
    size_t size;
    study_out o = {.csv = open_memstream(&text, &size), .study = s->name};
    bool ok = o.csv && s->run(&o, true);
    if (o.csv) fclose(o.csv);
    cr_assert(ok && text, "%s: no memory", s->name);
    return text;
}

/* y of one point, or NaN if there is no such point. */
static inline double at(const char *csv, const study *s, const char *panel, const char *series,
                        double x) {
    static char key[400];
    study_out o = {.csv = fmemopen(key, sizeof key, "w"), .study = s->name};
    cr_assert(o.csv != NULL, "no memory");
    study_point(&o, panel, series, x, 0);
    fclose(o.csv);
    key[strlen(key) - 2] = '\0'; /* cuts off y and the newline */
    const char *line = strstr(csv, key);
    double y = line ? strtod(line + strlen(key), NULL) : NAN;
    return y;
}
