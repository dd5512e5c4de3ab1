/* `normlab study NAME`: a numerical experiment that no single case can express. It leaves points,
 * one CSV line each: study,panel,series,x,y. SPDX-License-Identifier: MIT */
#ifndef NL_STUDY_H
#define NL_STUDY_H

#include <stdbool.h>
#include <stdio.h>

/* Where points go. */
typedef struct study_out {
    FILE *csv;
    const char *study; /* the name, in the first column */
} study_out;

void study_point(study_out *o, const char *panel, const char *series, double x, double y);

/* run says how far it is with progress() of report.h, when it may take over a second. quick: a
 * coarser or smaller one, in under about 5 s. False: out of memory, or wrong, which it has said. */
typedef struct study {
    const char *name, *question;
    bool (*run)(study_out *o, bool quick);
} study;

/* One file each; verb.c has the table. */
extern const study study_length, study_eps, study_gradients;
extern const study study_casting, study_batch_statistics, study_depth, study_ablation;
extern const study study_ln_vs_rms, study_rmsnorm2019, study_model_step;

#endif
