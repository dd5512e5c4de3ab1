/* Describes in a sentence what a kernel did to its process. SPDX-License-Identifier: MIT */
#ifndef NL_CRASH_H
#define NL_CRASH_H

#include "verify/worker.h"

/* "wrote y[1024] of row 63: 1 element past its end" */
void crash_describe(const call_record *s, char *why, size_t why_size);

/* Describes the end of a process that left no note; status: from waitpid(). */
void crash_describe_end(const call_record *shared, int status, char *why, size_t size);

#endif
