/* `normlab study NAME`: an experiment that no list of cases can express. It writes points, one CSV
 * line per point: study,panel,series,x,y. SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"

#include <stdio.h>

/* The destinations of points, progress and notes; the functions may be NULL. */
typedef struct study_out {
    FILE *csv;
    const char *study; /* the name, in the first column */
    void (*progress)(size_t done, size_t total, const char *what);
    void (*note)(const char *text);
} study_out;

void study_point(const study_out *o, const char *panel, const char *series, double x, double y);

/* The median in its panel, and the ends of the interval in "PANEL, low" and "PANEL, high". */
void study_interval(const study_out *o, const char *panel, const char *series, double x,
                    estimate e);

/* Reports the progress of a study that may take over a second. */
void study_progress(const study_out *o, size_t done, size_t total, const char *what);

/* Notes a failure or an omission; always returns false. */
bool study_note(const study_out *o, const char *format, ...);

/* quick: coarser or smaller, in less than 5 s. False: out of memory, or a failure with a note. */
typedef struct study {
    const char *name, *question;
    bool (*run)(study_out *o, bool quick);
} study;

/* The studies; each has a file with its name (`peak` has peak_chains.c). */
extern const study study_length, study_eps, study_gradients;
extern const study study_casting, study_batch_statistics, study_depth, study_ablation;
extern const study study_training;
extern const study study_ln_vs_rms, study_rmsnorm2019, study_model_step, study_peak;
