/* Thresholds: defaults, file and current values. SPDX-License-Identifier: MIT */
#include "tuning.h"
#include "caches.h"
#include "message.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes of a cache level; `usual` if unknown. */
static size_t cache_bytes(int level, size_t usual) {
    const size_t known = nl_cache_bytes(level);
    return known ? known : usual;
}

static size_t bounded(size_t bytes, size_t least, size_t most) {
    return bytes < least ? least : bytes > most ? most : bytes;
}

/* Do OpenMP's threads sleep between calls? */
static bool threads_sleep(void) {
    const char *policy = getenv("OMP_WAIT_POLICY");
    return policy && strcasecmp(policy, "passive") == 0;
}

static const struct key {
    const char *name;
    size_t offset;
} keys[] = {{"stream_bytes", offsetof(nl_tuning, stream_bytes)},
            {"stream_backward", offsetof(nl_tuning, stream_backward)},
            {"stream_batch", offsetof(nl_tuning, stream_batch)},
            {"fork_forward", offsetof(nl_tuning, fork_forward)},
            {"fork_backward", offsetof(nl_tuning, fork_backward)},
            {"fork_batch", offsetof(nl_tuning, fork_batch)}};
enum { KEYS = sizeof keys / sizeof *keys };

static size_t *field(nl_tuning *t, const struct key *k) {
    return (size_t *)((char *)t + k->offset);
}

enum { LINE = 199 };

/* Reads a line up to its comment. False: the line is too long, or holds a zero byte. */
static bool get_line(FILE *file, char line[LINE], bool *last) {
    size_t length = 0;
    bool comment = false;
    int c;
    while ((c = fgetc(file)) != '\n' && c != EOF) {
        comment |= c == '#';
        if (!c || (!comment && length == LINE - 1)) return false;
        if (!comment) line[length++] = (char)c;
    }
    line[length] = '\0';
    *last = c == EOF;
    return true;
}

/* Parses a blank line, or a key and its number; a key may occur only once. */
static bool parse(const char *line, nl_tuning *out, unsigned *seen) {
    static const char blank[] = " \t\r";
    const char *name = line + strspn(line, blank), *digits;
    const size_t length = strcspn(name, blank);
    char *end;
    if (!*name) return true;
    digits = name + length + strspn(name + length, blank);
    errno = 0;
    const unsigned long long value = strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || errno || value > SIZE_MAX || end[strspn(end, blank)])
        return false;
    for (int k = 0; k < KEYS; k++) {
        if (strlen(keys[k].name) != length || strncmp(keys[k].name, name, length) != 0) continue;
        *field(out, &keys[k]) = (size_t)value;
        const bool first = !(*seen & NL_BIT(k));
        *seen |= NL_BIT(k);
        return first;
    }
    return false;
}

int nl_tuning_read(const char *path, nl_tuning *out) {
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    char line[LINE];
    unsigned seen = 0;
    int number = 0;
    bool ok = true, last = false;
    while (ok && !last) {
        number++;
        ok = get_line(file, line, &last) && !ferror(file) && parse(line, out, &seen);
    }
    if (ferror(file)) number = -1;
    const int why = errno;
    fclose(file);
    errno = why;
    return ok && seen ? 0 : number;
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
        snprintf(why, why_size,
                 "NL_TUNING: %s:%d: should be a key of docs/tuning.md, given once, and a number",
                 path, line);
    if (line == 0) *out = wish;
    return line == 0;
}

static nl_tuning now;
static nl_caches caches;
static const char *source = "defaults";

static void decide(void) {
    const size_t third = cache_bytes(3, (size_t)16 << 20);
    caches = (nl_caches){.first = cache_bytes(1, (size_t)32 << 10),
                         .second = cache_bytes(2, (size_t)1 << 20),
                         .last = bounded(third, (size_t)8 << 20, (size_t)64 << 20)};
    caches.is_far = third > caches.last;
    /* Half of the cache is for x. Keeping y in a far cache gains less, so streaming pays sooner. */
    const size_t output = caches.last / (caches.is_far ? 4 : 2);
    now = (nl_tuning){.stream_bytes = output,
                      .stream_backward = output,
                      .stream_batch = output,
                      .fork_forward = NL_FORK_FORWARD,
                      .fork_backward = NL_FORK_BACKWARD * (threads_sleep() ? 4u : 1u),
                      .fork_batch = NL_FORK_BATCH};
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

const nl_caches *nl_caches_now(void) {
    pthread_once(&once, decide);
    return &caches;
}

void nl_tuning_use(const nl_tuning *t) {
    pthread_once(&once, decide);
    now = *t;
}

void nl_tuning_describe(char *text, size_t size) {
    nl_tuning t = *nl_tuning_now();
    size_t length = (size_t)snprintf(text, size, "%s", source);
    for (const struct key *k = keys; k < keys + KEYS && length < size; k++) {
        char number[24] = "never";
        if (*field(&t, k) != SIZE_MAX) snprintf(number, sizeof number, "%zu", *field(&t, k));
        length += (size_t)snprintf(text + length, size - length, "%s %s %s", k == keys ? ":" : ",",
                                   k->name, number);
    }
}
