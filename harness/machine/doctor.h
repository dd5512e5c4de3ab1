/* Finds what would spoil a measurement on this machine. It changes nothing and never fails.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "machine/finding.h"

#include <stddef.h>
#include <stdio.h>

/* Examines the machine on the first call; later calls return the same findings. Takes about 0.15 s,
 * mostly spinning, and starts the OpenMP threads. */
const finding *doctor_findings(size_t *count);

const char *finding_level_name(finding_level level); /* "good" */

/* Writes the line "doctor: 2 bad, 3 notes, ...". */
void doctor_summary(FILE *out, const finding *f, size_t count);

/* Writes that line and a line "doctor TOPIC: LEVEL VALUE" for each finding. */
void doctor_write(FILE *out);
