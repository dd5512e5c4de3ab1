/* SPDX-License-Identifier: MIT */
#include "machine/kernel_files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kernel_read(char text[KERNEL_TEXT], const char *path, ...) {
    char name[1024];
    va_list rest;
    va_start(rest, path);
    vsnprintf(name, sizeof name, path, rest);
    va_end(rest);
    text[0] = '\0';
    FILE *f = fopen(name, "r");
    if (!f) return false;
    errno = ENODATA; /* if the file is empty */
    bool read = fgets(text, KERNEL_TEXT, f) != NULL;
    int why = errno;
    fclose(f);
    errno = why;
    size_t end = strcspn(text, "\n");
    while (end > 0 && text[end - 1] == ' ') end--;
    text[end] = '\0';
    return read;
}

bool kernel_value(const char *path, const char *key, char *out, size_t size) {
    char line[KERNEL_TEXT];
    bool found = false;
    FILE *f = fopen(path, "r");
    if (!f) return false;
    while (!found && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *value = line + strlen(key);
        if (*key) value += strspn(value, " \t:=\"");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        found = true;
    }
    fclose(f);
    if (!found) errno = ENODATA;
    return found;
}

bool kernel_number(const char *path, const char *key, double *number) {
    char text[KERNEL_TEXT], *end;
    if (!kernel_value(path, key, text, sizeof text)) return false;
    *number = strtod(text, &end);
    if (end == text) errno = ENODATA;
    return end != text;
}

int kernel_parse_list(const char *list, bool set[CPUS_MAX]) {
    int count = 0;
    memset(set, 0, CPUS_MAX * sizeof *set);
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long i = first; i <= last && i < CPUS_MAX; i++) count += !set[i], set[i] = true;
        list = end + (*end == ',');
    }
    return count;
}

const char *kernel_list_text(const bool set[CPUS_MAX], char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < CPUS_MAX; i++) {
        if (!set[i]) continue;
        if (used > size - 16) { /* no room for a range and the dots */
            strcpy(text + used, ",...");
            break;
        }
        int last = i;
        while (last + 1 < CPUS_MAX && set[last + 1]) last++;
        used += (size_t)snprintf(text + used, size - used, "%s%d", used ? "," : "", i);
        if (last > i) used += (size_t)snprintf(text + used, size - used, "-%d", last);
        i = last;
    }
    return text;
}
