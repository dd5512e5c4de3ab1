/* Times two layers against each other, as `normlab bench` times implementations, but each arm on
 * its own case. Both are verified before the timing and after it. SPDX-License-Identifier: MIT */
#ifndef NL_RACE_H
#define NL_RACE_H

#include "base/stats.h"
#include "timing/arm.h"
#include "timing/modes.h"

#include <stdint.h>

typedef struct race_result {
    estimate ratio;  /* log of b's time over a's */
    double aa, band; /* a against itself: the log of its ratio, and the band */
    estimate passes; /* log of the time of saved_by's passes over a's time; infinite: no passes */
    double ns[2];
    size_t rounds;
} race_result;

/* The seed of the order of the arms; the default is 1. */
extern uint64_t race_seed;

/* LayerNorm against RMSNorm in a mode. tail: the case without its layer, as
 * "forward/f32/64x1024/normal"; its pass may also be "both". False: why says why. */
bool race_mode(fixtures *all, const mode *m, const char *tail, double seconds, race_result *out,
               char *why, size_t why_size);

/* Any two arms. saved_by: a mode whose saved passes are timed as another arm, or NULL. */
bool race_pair(arm *a, arm *b, const mode *saved_by, double seconds, race_result *out, char *why,
               size_t why_size);

#endif
