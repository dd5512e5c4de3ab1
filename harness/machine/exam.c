/* SPDX-License-Identifier: MIT */
#include "machine/exam.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

finding *exam_add(exam *e, const char *topic, finding_level level, const char *advice,
                  const char *value, ...) {
    static finding none; /* receives findings beyond the room in out[] */
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
