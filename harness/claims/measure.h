/* Claims put to the test. SPDX-License-Identifier: MIT */
#ifndef NL_CLAIMS_MEASURE_H
#define NL_CLAIMS_MEASURE_H

#include "claims/claim.h"

typedef struct claims_job {
    claim *claims; /* figures and verdicts come to lie in their settings */
    size_t count;
    double seconds; /* of timing for each arm of a race */
    bool quick;     /* nothing large */
    void (*progress)(size_t done, size_t total, const char *what);
    void (*failed)(const claim *c, const setting *s);
    /* What came out. */
    size_t settings_measured, settings_failed;
} claims_job;

/* False: out of memory. */
bool claims_measure(claims_job *j);

#endif
