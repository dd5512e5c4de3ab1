/* What the parts of the doctor share: one examination, and reading what the kernel says about
 * itself. Each part adds its findings. SPDX-License-Identifier: MIT */
#ifndef NL_DOCTOR_PARTS_H
#define NL_DOCTOR_PARTS_H

#include "machine/doctor.h"

#include <stdbool.h>

enum { DOCTOR_CPUS = 4096, DOCTOR_TEXT = 4096 };

/* Limits of our control group and of those above it. */
typedef struct group_limits {
    bool known;
    double cpus;      /* HUGE_VAL: no quota */
    double bytes;     /* HUGE_VAL: no limit */
    double throttled; /* periods in which the quota stopped us, since the group was made */
} group_limits;

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
    int threads;           /* OpenMP would start */
    bool cpu[DOCTOR_CPUS]; /* our threads may run on */
    int cpus, online;
    bool mask_known;
    char load[DOCTOR_TEXT]; /* of /proc/loadavg before our own threads started; empty: unread */
    counters before, after;
} exam;

#ifdef __GNUC__
#define DOCTOR_FORMAT(at, rest) __attribute__((format(printf, at, rest)))
#else
#define DOCTOR_FORMAT(at, rest)
#endif

/* Adds a finding and returns it, for advice that has to be made; advice may be NULL. */
finding *doctor_say(exam *e, const char *topic, doctor_level level, const char *advice,
                    const char *value, ...) DOCTOR_FORMAT(5, 6);

/* Adds "unknown": PATH and the reason in errno. */
void doctor_unreadable(exam *e, const char *topic, const char *path);

/* The first line of the file, without the blanks at its end. False: errno says why. */
bool doctor_read(char text[DOCTOR_TEXT], const char *path, ...) DOCTOR_FORMAT(2, 3);

/* The number that follows key at the beginning of a line; key "": of the first line. */
bool doctor_number(const char *path, const char *key, double *number);

/* "0-3,8", the kernel's way to write a set of CPUs or nodes, both ways; the first returns how many.
 * Too long a text ends in "...". */
int doctor_parse_list(const char *list, bool set[DOCTOR_CPUS]);
const char *doctor_list_text(const bool set[DOCTOR_CPUS], char *text, size_t size);

/* Sorts, and returns the value below which the share q of them lies. */
double doctor_quantile(double *values, int count, double q);

/* Does the calling thread round subnormal floats to zero, coming or going? */
bool doctor_flushes_subnormals(void);

void doctor_cpus_begin(exam *e); /* fills cpu, cpus, online, mask_known */
void doctor_cpus(exam *e);
void doctor_load_begin(exam *e); /* fills load; before any thread is started */
void doctor_load_count(const exam *e, counters *c);
void doctor_load(exam *e);
group_limits doctor_group(void);
void doctor_memory(exam *e);
void doctor_system(exam *e);
void doctor_probe(exam *e);
void doctor_threads(exam *e);

#endif
