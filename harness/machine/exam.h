/* One examination: the findings of its parts, and the data they share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "machine/finding.h"
#include "machine/kernel_files.h"

/* Counters, read at the beginning of the examination and again after its probes. */
typedef struct counters {
    double ns, own_seconds;  /* own: processor time of this process */
    double busy, steal, all; /* seconds of our CPUs since boot */
    double swapped;          /* pages in and out since boot */
    bool stat, vmstat;       /* could the file in /proc be read? */
    group_limits group;
} counters;

typedef struct exam {
    finding *out;
    size_t most, count;
    int threads;        /* threads that OpenMP would start */
    bool cpu[CPUS_MAX]; /* CPUs that our threads may run on */
    int cpus, online;
    bool mask_known;
    char load[KERNEL_TEXT]; /* /proc/loadavg before our own threads started; "": not readable */
    counters before, after;
} exam;

/* Adds a finding. advice may be NULL; the caller can format one into the returned finding. */
finding *exam_add(exam *e, const char *topic, finding_level level, const char *advice,
                  const char *value, ...) NL_FORMAT(5, 6);

/* Adds an unknown finding with the path and the reason in errno. */
void exam_unreadable(exam *e, const char *topic, const char *path);

/* The parts of an examination, each in its own file. Every part adds its findings. */
void load_begin(exam *e); /* fills load; call before any thread starts */
void load_count(const exam *e, counters *c);
void examine_load(exam *e);
void cpus_begin(exam *e); /* fills cpu, cpus, online, mask_known */
void examine_cpus(exam *e);
void examine_memory(exam *e);
void examine_system(exam *e);
void examine_probes(exam *e);
void examine_threads(exam *e);
