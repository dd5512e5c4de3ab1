/* What on this machine would spoil a measurement. Nothing is ever changed and nothing is ever a
 * failure: what cannot be read is unknown, with the reason. SPDX-License-Identifier: MIT */
#ifndef NL_DOCTOR_H
#define NL_DOCTOR_H

#include <stddef.h>
#include <stdio.h>

typedef enum doctor_level { DOCTOR_GOOD, DOCTOR_NOTE, DOCTOR_BAD, DOCTOR_UNKNOWN } doctor_level;

typedef struct finding {
    const char *topic; /* one word; every topic is in every examination, once */
    doctor_level level;
    char value[128];  /* numbers with their units; for unknown: why */
    char advice[256]; /* what to do; empty when there is nothing to do */
} finding;

/* The findings, at most `most`; returns their number. Takes about 0.15 s, most of it spinning, and
 * starts the OpenMP threads. */
size_t doctor_examine(finding *out, size_t most);

/* Writes "doctor: 2 bad, 3 notes, ..." and a line "doctor TOPIC: LEVEL VALUE" a finding, to be
 * kept with results. Examines once in the life of the process. */
void doctor_write(FILE *out);

#endif
