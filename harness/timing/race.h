/* Two layers against each other: arms that take turns in one measurement, each on its own case, as
 * `normlab bench` has them on one. Nothing is timed before it was verified, nor shown unless it is
 * right afterwards as well. SPDX-License-Identifier: MIT */
#ifndef NL_RACE_H
#define NL_RACE_H

#include "base/stats.h"
#include "timing/arm.h"
#include "timing/modes.h"

typedef struct race_result {
    estimate ratio;  /* log of b's time over a's */
    double band;     /* a against itself */
    estimate passes; /* log of the passes not made over a's time, where asked for */
    double ns[2];
    size_t rounds;
} race_result;

/* In a mode; tail is the case without its layer, as "forward/f32/64x1024/normal", where the pass may
 * also be "both". False: why says what failed, or that nothing here runs it. */
bool race_mode(fixtures *all, const mode *m, const char *tail, double seconds, race_result *out,
               char *why, size_t why_size);

/* Any two; model (or NULL) has the passes to time along with them. */
bool race_pair(arm *a, arm *b, const mode *model, double seconds, race_result *out, char *why,
               size_t why_size);

#endif
