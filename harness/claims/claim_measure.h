/* Measures the settings of claims. SPDX-License-Identifier: MIT */
#pragma once

#include "claims/evidence.h"

#include <stdint.h>

typedef struct claims_job {
    claim *claims; /* figures and verdicts are written into their settings */
    size_t count;
    double seconds; /* of timing for each candidate of a race */
    uint64_t seed;  /* of the order of races, and of the candidates in each */
    bool quick;     /* skip large cases */
    void (*progress)(size_t done, size_t total, const char *what);
    void (*failed)(const claim *c, const setting *s);
    evidence evidence; /* races are added to it */
    /* Results. */
    size_t settings_measured, settings_failed;
} claims_job;

/* Runs each race that the claims need once. False: out of memory. */
bool claims_race(claims_job *j);

/* Computes the quantities that are not timed, and decides all settings, timed ones by the
 * evidence. */
void claims_decide(claims_job *j);
