/* What on this machine would spoil a measurement. Nothing is ever changed and nothing is ever a
 * failure. SPDX-License-Identifier: MIT */
#ifndef NL_DOCTOR_H
#define NL_DOCTOR_H

#include "machine/finding.h"

#include <stddef.h>
#include <stdio.h>

/* Examines once in the life of the process. Takes about 0.15 s, most of it spinning, and starts the
 * OpenMP threads. */
const finding *doctor_findings(size_t *count);

const char *finding_level_name(finding_level level); /* "good" */

/* "doctor: 2 bad, 3 notes, ...", a line. */
void doctor_summary(FILE *out, const finding *f, size_t count);

/* That line and a line "doctor TOPIC: LEVEL VALUE" a finding, to be kept with results. */
void doctor_write(FILE *out);

#endif
