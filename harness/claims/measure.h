/* Measures the settings of claims. SPDX-License-Identifier: MIT */
#ifndef NL_CLAIMS_MEASURE_H
#define NL_CLAIMS_MEASURE_H

#include "claims/claim.h"

typedef struct claims_job {
    claim *claims; /* figures and verdicts are written into their settings */
    size_t count;
    double seconds; /* of timing for each arm of a race */
    bool quick;     /* skip large cases */
    void (*progress)(size_t done, size_t total, const char *what);
    void (*failed)(const claim *c, const setting *s);
    /* Results. */
    size_t settings_measured, settings_failed;
} claims_job;

/* False: out of memory. */
bool claims_measure(claims_job *j);

#endif
