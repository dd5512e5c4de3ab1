/* SPDX-License-Identifier: MIT */
#include "machine/kernel_files.h"

#include <errno.h>
#include <math.h>
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
    errno = ENODATA; /* for an empty file */
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
        if (used > size - 16) { /* too little room left for a range and the dots */
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

/* The limits of control groups, version 1 and 2. Takes the tightest limit of our group and its
 * ancestors. Interfaces: cgroups(7), Documentation/admin-guide/cgroup-v{1,2}. */

static const char mount[] = "/sys/fs/cgroup";

/* Is name in a comma-separated list? */
static bool among(const char *list, const char *name) {
    size_t n = strlen(name);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",\n") == n && strncmp(list, name, n) == 0) return true;
    return false;
}

/* Our group's folder: in the controller's own hierarchy (version 1) or, without one, in version 2.
 * A container may not see the folder, only its parents. */
static bool own_folder(const char *controller, char dir[768], bool *v2) {
    char line[1024];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *names = strchr(line, ':'), *where = names ? strchr(names + 1, ':') : NULL;
        if (!where) continue;
        *where++ = '\0', names++;
        const bool unified = !*names;
        if (!unified && !among(names, controller)) continue;
        snprintf(dir, 768, "%s%s%s%.*s", mount, unified ? "" : "/", unified ? "" : controller,
                 (int)strcspn(where, "\n"), where);
        found = true, *v2 = unified;
        if (!unified) break;
    }
    if (f) fclose(f);
    return found && !strstr(dir, "..");
}

static void tighten(double *limit, double value) {
    if (value > 0 && value < *limit) *limit = value;
}

static void read_cpu(const char *dir, bool v2, group_limits *g) {
    char text[KERNEL_TEXT], *end;
    double quota = 0, period = 1, throttled;
    if (v2 && kernel_read(text, "%s/cpu.max", dir)) {
        quota = strtod(text, &end); /* 0 for "max", no quota */
        period = strtod(end, NULL);
    } else if (!v2 && kernel_read(text, "%s/cpu.cfs_quota_us", dir)) {
        quota = strtod(text, NULL); /* -1: no quota */
        if (kernel_read(text, "%s/cpu.cfs_period_us", dir)) period = strtod(text, NULL);
    }
    if (period > 0) tighten(&g->cpus, quota / period);
    g->known = kernel_read(text, "%s/cpu.stat", dir) || g->known;
    snprintf(text, sizeof text, "%s/cpu.stat", dir);
    if (kernel_number(text, "nr_throttled", &throttled) && throttled > g->throttled)
        g->throttled = throttled;
}

static void read_memory(const char *dir, bool v2, group_limits *g) {
    char text[KERNEL_TEXT];
    if (kernel_read(text, "%s/%s", dir, v2 ? "memory.max" : "memory.limit_in_bytes"))
        tighten(&g->bytes, strtod(text, NULL));
}

/* Calls read() for our group's folder and its parents, up to the mount point. */
static void climb(const char *controller, void (*read)(const char *, bool, group_limits *),
                  group_limits *g) {
    char dir[768];
    bool v2;
    if (!own_folder(controller, dir, &v2)) return;
    for (; strlen(dir) >= strlen(mount); *strrchr(dir, '/') = '\0') read(dir, v2, g);
}

group_limits cgroup_limits(void) {
    group_limits g = {.cpus = HUGE_VAL, .bytes = HUGE_VAL};
    climb("cpu", read_cpu, &g);
    climb("memory", read_memory, &g);
    return g;
}
