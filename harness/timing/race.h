/* Times two layers against each other, as `normlab bench` times implementations, but each candidate
 * has its own case. Both layers are verified before and after the timing.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "base/stats.h"
#include "normlab.h"
#include "timing/candidate.h"
#include "timing/modes.h"

#include <stdint.h>

/* A number with its interval; wide: the interval extended by the A/A band at both ends. */
typedef struct figure {
    estimate value, wide;
    double band; /* the A/A band, added at each end */
    size_t rounds;
} figure;

/* log_ratio: logarithm of b's time over a's time. The saving is in per cent of a step; share: the
 * fraction of the step that a takes. The speed-up does not depend on the share. */
figure figure_saving(double share, estimate log_ratio, double band);
figure figure_speedup(double share, estimate log_ratio, double band);

typedef struct race_result {
    estimate ratio;     /* log of b's time over a's time */
    double aa, band;    /* candidate a raced against itself: log ratio, and band */
    double ns[2];       /* time of a call of a, and of b */
    quiet_rounds quiet; /* b's time over a's in their quiet rounds */
    double quiet_aa;    /* log ratio of a to itself in its quiet rounds */
    size_t rounds;
} race_result;

/* The parameters of races, and the state that races share. */
typedef struct race {
    fixtures all;
    double seconds; /* seconds of timing for each candidate */
    uint64_t seed;  /* seed of the order of the candidates */
    char why[1200]; /* message of the last failure */
} race;

/* LayerNorm against RMSNorm in a mode. tail: the case without its layer, as
 * "forward/f32/64x1024/normal"; its pass may also be "both". False: r->why has the reason. */
bool race_mode(race *r, const mode *m, const char *tail, race_result *out);

/* Races any two candidates. */
bool race_pair(race *r, candidate *a, candidate *b, race_result *out);

/* Races candidates that the caller verifies: a, b, and a again. */
bool race_candidates(race *r, measure_candidate a, measure_candidate b, race_result *out);
