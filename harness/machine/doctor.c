/* SPDX-License-Identifier: MIT */
#include "machine/doctor.h"
#include "machine/exam.h"
#include "normlab.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 64 };

const char *finding_level_name(finding_level level) {
    static const char *const names[FINDING_LEVELS] = {"good", "note", "bad", "unknown"};
    return names[level];
}

static size_t examine(finding *out, size_t most) {
    exam e = {.out = out, .most = most, .threads = nl_max_threads()};
    load_begin(&e); /* first, before our own threads add to the load */
    cpus_begin(&e);
    load_count(&e, &e.before);
    examine_cpus(&e);
    examine_probes(&e);
    examine_threads(&e);
    load_count(&e, &e.after);
    examine_load(&e);
    examine_memory(&e);
    examine_system(&e);
    return e.count;
}

const finding *doctor_findings(size_t *count) {
    static finding found[MAX];
    static size_t n;
    if (n == 0) n = examine(found, MAX);
    *count = n;
    return found;
}

void doctor_summary(FILE *out, const finding *f, size_t count) {
    size_t of[FINDING_LEVELS] = {0};
    for (size_t i = 0; i < count; i++) of[f[i].level]++;
    fprintf(out, "doctor: %zu bad, %zu note%s, %zu good, %zu unknown\n", of[FINDING_BAD],
            of[FINDING_NOTE], of[FINDING_NOTE] == 1 ? "" : "s", of[FINDING_GOOD],
            of[FINDING_UNKNOWN]);
}

void doctor_write(FILE *out) {
    size_t count;
    const finding *f = doctor_findings(&count);
    doctor_summary(out, f, count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "doctor %s: %s %s\n", f[i].topic, finding_level_name(f[i].level), f[i].value);
}

finding *exam_add(exam *e, const char *topic, finding_level level, const char *advice,
                  const char *value, ...) {
    static finding none; /* receives findings that do not fit out[] */
    finding *f = e->count < e->most ? &e->out[e->count++] : &none;
    va_list rest;
    *f = (finding){.topic = topic, .level = level};
    va_start(rest, value);
    vsnprintf(f->value, sizeof f->value, value, rest);
    va_end(rest);
    if (advice && level != FINDING_GOOD) snprintf(f->advice, sizeof f->advice, "%s", advice);
    return f;
}

void exam_unreadable(exam *e, const char *topic, const char *path) {
    exam_add(e, topic, FINDING_UNKNOWN, NULL, "%.80s: %s", path, strerror(errno));
}
