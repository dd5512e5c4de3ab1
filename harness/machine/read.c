/* Findings, and the few shapes of text in /proc and /sys. SPDX-License-Identifier: MIT */
#include "machine/parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

finding *doctor_say(exam *e, const char *topic, doctor_level level, const char *advice,
                    const char *value, ...) {
    static finding none; /* where findings go that there is no room for */
    finding *f = e->count < e->most ? &e->out[e->count++] : &none;
    va_list rest;
    *f = (finding){.topic = topic, .level = level};
    va_start(rest, value);
    vsnprintf(f->value, sizeof f->value, value, rest);
    va_end(rest);
    if (advice) snprintf(f->advice, sizeof f->advice, "%s", advice);
    return f;
}

void doctor_unreadable(exam *e, const char *topic, const char *path) {
    doctor_say(e, topic, DOCTOR_UNKNOWN, NULL, "%.80s: %s", path, strerror(errno));
}

bool doctor_read(char text[DOCTOR_TEXT], const char *path, ...) {
    char name[1024];
    va_list rest;
    va_start(rest, path);
    vsnprintf(name, sizeof name, path, rest);
    va_end(rest);
    text[0] = '\0';
    FILE *f = fopen(name, "r");
    if (!f) return false;
    errno = ENODATA; /* what an empty file is */
    bool read = fgets(text, DOCTOR_TEXT, f) != NULL;
    int why = errno;
    fclose(f);
    errno = why;
    size_t end = strcspn(text, "\n");
    while (end > 0 && text[end - 1] == ' ') end--;
    text[end] = '\0';
    return read;
}

bool doctor_number(const char *path, const char *key, double *number) {
    char line[DOCTOR_TEXT];
    bool found = false;
    FILE *f = fopen(path, "r");
    if (!f) return false;
    while (!found && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *begin = line + strlen(key), *end;
        begin += strspn(begin, " \t:");
        *number = strtod(begin, &end);
        found = end != begin;
        if (!*key) break;
    }
    fclose(f);
    if (!found) errno = ENODATA;
    return found;
}

int doctor_parse_list(const char *list, bool set[DOCTOR_CPUS]) {
    int count = 0;
    memset(set, 0, DOCTOR_CPUS * sizeof *set);
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long i = first; i <= last && i < DOCTOR_CPUS; i++) count += !set[i], set[i] = true;
        list = end + (*end == ',');
    }
    return count;
}

const char *doctor_list_text(const bool set[DOCTOR_CPUS], char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < DOCTOR_CPUS; i++) {
        if (!set[i]) continue;
        if (used > size - 16) { /* no room for a range and the dots */
            strcpy(text + used, ",...");
            break;
        }
        int last = i;
        while (last + 1 < DOCTOR_CPUS && set[last + 1]) last++;
        used += (size_t)snprintf(text + used, size - used, "%s%d", used ? "," : "", i);
        if (last > i) used += (size_t)snprintf(text + used, size - used, "-%d", last);
        i = last;
    }
    return text;
}
