/* Parses the few text formats of Linux's /proc and /sys.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CPUS_MAX = 4096, KERNEL_TEXT = 4096 };

#ifdef __GNUC__
#define NL_FORMAT(at, rest) __attribute__((format(printf, at, rest)))
#else
#define NL_FORMAT(at, rest)
#endif

/* Reads the first line of a file, without trailing blanks. False: errno has the reason. */
bool kernel_read(char text[KERNEL_TEXT], const char *path, ...) NL_FORMAT(2, 3);

/* Reads the text after key, up to a quote, in the first line that begins with key. key "": the
 * first line. */
bool kernel_value(const char *path, const char *key, char *out, size_t size);

/* Reads the number after key. */
bool kernel_number(const char *path, const char *key, double *number);

/* Parse and print a set of CPUs or nodes, "0-3,8". kernel_parse_list() returns their number;
 * kernel_list_text() ends a text that is too long in "...". */
int kernel_parse_list(const char *list, bool set[CPUS_MAX]);
const char *kernel_list_text(const bool set[CPUS_MAX], char *text, size_t size);

/* The limits of this process's control group and its ancestors. */
typedef struct group_limits {
    bool known;
    double cpus;      /* HUGE_VAL: no quota */
    double bytes;     /* HUGE_VAL: no limit */
    double throttled; /* periods in which the quota stopped a group, since it was created */
} group_limits;

group_limits cgroup_limits(void);
