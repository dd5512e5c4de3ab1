/* Thresholds: defaults, file and current values. SPDX-License-Identifier: MIT */
#include "tuning.h"
#include "message.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Half the last-level cache, since x takes the other half; capped: a large cache is shared. */
static size_t default_stream_bytes(void) {
    const size_t least = (size_t)4 << 20, most = (size_t)32 << 20;
    long cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    size_t half = cache > 0 ? (size_t)cache / 2 : (size_t)8 << 20;
    return half < least ? least : half > most ? most : half;
}

static const struct key {
    const char *name;
    size_t offset;
} keys[] = {{"stream_bytes", offsetof(nl_tuning, stream_bytes)},
            {"fork_forward", offsetof(nl_tuning, fork_forward)},
            {"fork_backward", offsetof(nl_tuning, fork_backward)}};
enum { KEYS = sizeof keys / sizeof *keys };

static size_t *field(nl_tuning *t, const struct key *k) {
    return (size_t *)((char *)t + k->offset);
}

int nl_tuning_read(const char *path, nl_tuning *out) {
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    char line[200], name[100], sign, rest = 0;
    unsigned long long value;
    int number = 0;
    bool ok = true;
    char *last = line + sizeof line - 2; /* still a newline, or a zero, where the line fits */
    while (*last = '\n', ok && fgets(line, sizeof line, file)) {
        number++;
        const bool whole = *last == '\n' || *last == '\0';
        for (int c = whole ? '\n' : 0; c != '\n' && c != EOF;) c = fgetc(file);
        if (sscanf(line, " %c", &rest) != 1 ? whole : rest == '#') continue;
        ok = false;
        if (!whole) break;
        if (sscanf(line, "%99s %c", name, &sign) != 2 || sign == '-') break;
        if (sscanf(line, "%*s %llu %c", &value, &rest) != 1 || value > SIZE_MAX) break;
        for (const struct key *k = keys; k < keys + KEYS; k++)
            if (strcmp(k->name, name) == 0) *field(out, k) = (size_t)value, ok = true;
    }
    if (ferror(file)) number = -1, ok = false;
    const int why = errno;
    fclose(file);
    errno = why;
    return ok ? 0 : number;
}

bool nl_tuning_write(FILE *out, const nl_tuning *t) {
    nl_tuning copy = *t;
    for (const struct key *k = keys; k < keys + KEYS; k++)
        fprintf(out, "%s %zu\n", k->name, *field(&copy, k));
    return fflush(out) == 0 && !ferror(out);
}

bool nl_tuning_check(nl_tuning *out, char *why, size_t why_size) {
    const char *path = getenv("NL_TUNING");
    nl_tuning wish = *out;
    const int line = path && *path ? nl_tuning_read(path, &wish) : 0;
    if (line < 0) snprintf(why, why_size, "NL_TUNING: cannot read '%s': %s", path, strerror(errno));
    if (line > 0)
        snprintf(why, why_size, "NL_TUNING: %s:%d: should be a key of docs/tuning.md and a number",
                 path, line);
    if (line == 0) *out = wish;
    return line == 0;
}

static nl_tuning now;
static const char *source = "defaults";

static void decide(void) {
    now = (nl_tuning){.stream_bytes = default_stream_bytes(),
                      .fork_forward = NL_FORK_FORWARD,
                      .fork_backward = NL_FORK_BACKWARD};
    const char *path = getenv("NL_TUNING");
    char why[200];
    if (!nl_tuning_check(&now, why, sizeof why))
        nl_note("%s; the defaults hold", why);
    else if (path && *path)
        source = "NL_TUNING";
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

const nl_tuning *nl_tuning_now(void) {
    pthread_once(&once, decide);
    return &now;
}

void nl_tuning_use(const nl_tuning *t) {
    pthread_once(&once, decide);
    now = *t;
}

void nl_tuning_describe(char *text, size_t size) {
    nl_tuning t = *nl_tuning_now();
    size_t length = (size_t)snprintf(text, size, "%s", source);
    for (const struct key *k = keys; k < keys + KEYS && length < size; k++)
        length += (size_t)snprintf(text + length, size - length, "%s %s %zu", k == keys ? ":" : ",",
                                   k->name, *field(&t, k));
}
