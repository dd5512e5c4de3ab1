/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many letters must be inserted, removed or replaced (Levenshtein). */
static size_t distance(const char *a, size_t m, const char *b, size_t n) {
    size_t row[LONGEST + 1];
    for (size_t k = 0; k <= n; k++) row[k] = k;
    for (size_t i = 1; i <= m; i++) {
        size_t before = row[0]; /* of the row above */
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            const size_t here = before + (a[i - 1] != b[k - 1]);
            before = row[k];
            row[k] = least(here, least(before, row[k - 1]) + 1);
        }
    }
    return row[n];
}

static bool is_near(const char *text, size_t length, const char *name) {
    const char *slash = strrchr(name, '/'), *tail = slash ? slash + 1 : name;
    if (length > LONGEST || strlen(name) > LONGEST) return false;
    const size_t most = length < 3 ? 0 : length < 5 ? 1 : 2;
    return distance(text, length, name, strlen(name)) <= most ||
           distance(text, length, tail, strlen(tail)) <= most;
}

void guess_print(const char *text, size_t length, const char *(*name)(size_t i), size_t count,
                 const char *other) {
    enum { MOST = 3 };
    const char *found[MOST];
    size_t n = 0;
    for (size_t i = 0; i < count && n < MOST; i++) {
        bool again = false;
        for (size_t k = 0; k < n; k++) again |= strcmp(found[k], name(i)) == 0;
        if (!again && is_near(text, length, name(i))) found[n++] = name(i);
    }
    for (size_t k = 0; k < n; k++)
        fprintf(stderr, "%s%s", k == 0 ? ": did you mean " : k + 1 < n ? ", " : " or ", found[k]);
    if (n)
        fputs("?\n", stderr);
    else
        fprintf(stderr, "%s\n", other);
}
