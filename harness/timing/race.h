/* Two layers against each other: arms that take turns in one measurement, each on its own case, as
 * `normlab bench` has them on one. Nothing is timed before it was judged, nor shown unless it is right
 * afterwards as well. SPDX-License-Identifier: MIT */
#ifndef NL_RACE_H
#define NL_RACE_H

#include "timing/measure.h"
#include "timing/modes.h"
#include "verify/verify.h"

/* A case with its data, its answer and the buffers it runs in. */
typedef struct stage {
    nl_case c;
    nl_data data;
    answer want, partial; /* partial: pRMSNorm's, made when it is first judged */
    instance in;
} stage;

/* Those of one shape and kind; asked for another, it gives them up. */
typedef struct stages {
    stage at[8];
    size_t count;
} stages;

/* NULL: `error` says why. Those of the same case but for layer and pass stay where they are. */
stage *stage_get(stages *all, const char *text, char *error, size_t error_size);
void stages_free(stages *all);

/* What an implementation makes of a stage, against its answer. */
verdict stage_judge(stage *s, const nl_impl *impl, int threads);

/* One arm: a call, or with two stages forward and then backward. */
typedef struct racer {
    stage *stage[2];
    const nl_impl *impl[2];
    int threads;
} racer;

typedef struct race_result {
    estimate ratio;  /* log of b's time over a's */
    double band;     /* a against itself */
    estimate passes; /* log of the passes not made over a's time, where asked for */
    double ns[2];
    size_t rounds;
} race_result;

/* In a mode; tail is the case without its layer, as "forward/f32/64x1024/normal", where the pass may
 * also be "both". False: why says what failed, or that nothing here runs it. */
bool race_mode(stages *all, const mode *m, const char *tail, double seconds, race_result *out,
               char *why, size_t why_size);

/* Any two; model (or NULL) has the passes to time along with them. */
bool race_pair(racer *a, racer *b, const mode *model, double seconds, race_result *out, char *why,
               size_t why_size);

#endif
