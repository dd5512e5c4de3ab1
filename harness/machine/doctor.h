/* Finds conditions that would spoil a measurement on this machine. Changes nothing, never fails.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "machine/finding.h"

#include <stddef.h>
#include <stdio.h>

/* Examines the machine on the first call; later calls return the same findings. The examination
 * takes about 0.15 s, mostly in busy loops, and starts the OpenMP threads. */
const finding *doctor_findings(size_t *count);

const char *finding_level_name(finding_level level); /* "good" */

/* Writes the line "doctor: 2 bad, 3 notes, ...". */
void doctor_summary(FILE *out, const finding *f, size_t count);

/* Writes the line of doctor_summary() and a line "doctor TOPIC: LEVEL VALUE" for each finding. */
void doctor_write(FILE *out);
