/* One examination: what its parts (parts.h) find, and what they share.
 * SPDX-License-Identifier: MIT */
#ifndef NL_EXAM_H
#define NL_EXAM_H

#include "machine/cgroup.h"
#include "machine/finding.h"
#include "machine/kernel_files.h"

/* What is counted when the examination begins, and again when its probes have ended. */
typedef struct counters {
    double ns, own_seconds;  /* own: processor time of this process */
    double busy, steal, all; /* seconds of our CPUs since boot */
    double swapped;          /* pages in and out, since boot */
    bool stat, vmstat;       /* could be read */
    group_limits group;
} counters;

typedef struct exam {
    finding *out;
    size_t most, count;
    int threads;         /* OpenMP would start */
    bool cpu[CPUS_MOST]; /* our threads may run on */
    int cpus, online;
    bool mask_known;
    char load[KERNEL_TEXT]; /* of /proc/loadavg before our own threads started; empty: unread */
    counters before, after;
} exam;

/* Adds a finding and returns it, for advice that has to be made; advice may be NULL. */
finding *exam_say(exam *e, const char *topic, finding_level level, const char *advice,
                  const char *value, ...) NL_FORMAT(5, 6);

/* Adds "unknown": PATH and the reason in errno. */
void exam_unreadable(exam *e, const char *topic, const char *path);

#endif
