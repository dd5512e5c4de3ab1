/* Greedily collects features that every failing case has. Each step takes the feature that the
 * fewest remaining right cases have, and drops cases without it. SPDX-License-Identifier: MIT */
#include "cases/suite.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES_MAX = 400, TAKEN_MAX = 4, FEWEST = 3, SIZES = 5, HALVINGS = 7 };
static const char *const size_names[SIZES] = {"n", "c", "s", "n * c * s", "threads"};

typedef enum feature_kind { WORD, NO_WORD, LEAST, MOST, EQUAL, MULTIPLE, NO_MULTIPLE } feature_kind;
typedef struct feature {
    feature_kind kind;
    char word[80]; /* a component of the spelling, or its beginning followed by '*' */
    int size;
    size_t number;
} feature;

static size_t size_of(const nl_case *c, int size) {
    const nl_problem *p = &c->problem;
    const size_t sizes[SIZES] = {p->n, p->c, p->s, p->n * p->c * p->s,
                                 c->threads ? (size_t)c->threads : 1};
    return sizes[size];
}

static bool is_word(const char *part, size_t length, const char *word) {
    const size_t all = strlen(word);
    if (all && word[all - 1] == '*') return length >= all - 1 && memcmp(part, word, all - 1) == 0;
    return length == all && memcmp(part, word, all) == 0;
}

static bool has_word(const nl_case *c, const char *word) {
    for (const char *part = c->text; *part; part += *part == '/') {
        const size_t length = strcspn(part, "/");
        if (is_word(part, length, word)) return true;
        part += length;
    }
    return false;
}

static bool has(const nl_case *c, const feature *f) {
    const size_t value = size_of(c, f->size);
    switch (f->kind) {
    case WORD: return has_word(c, f->word);
    case NO_WORD: return !has_word(c, f->word);
    case LEAST: return value >= f->number;
    case MOST: return value <= f->number;
    case EQUAL: return value == f->number;
    case MULTIPLE: return value % f->number == 0;
    default: return value % f->number != 0;
    }
}

typedef struct search {
    const nl_case *cases;
    const unsigned char *states;
    size_t count;
    bool *left; /* [i]: does case i have every feature taken so far? */
    feature list[FEATURES_MAX], taken[TAKEN_MAX];
    size_t features, takes;
} search;

static void add(search *s, feature_kind kind, const char *word, size_t length, int size,
                size_t number) {
    feature f = {.kind = kind, .size = size, .number = number};
    if (s->features == FEATURES_MAX || length >= sizeof f.word) return;
    memcpy(f.word, word, length);
    for (size_t i = 0; i < s->features; i++)
        if (memcmp(&s->list[i], &f, sizeof f) == 0) return;
    s->list[s->features++] = f;
}

/* Adds each part of the spelling except the shape. For "gamma=scale:2", WORD also adds "gamma=*"
 * and "gamma=scale:*"; NO_WORD adds only "gamma=*". */
static void add_words(search *s, const nl_case *c, feature_kind kind) {
    for (const char *part = c->text; *part; part += *part == '/') {
        const size_t length = strcspn(part, "/");
        char word[80];
        for (size_t i = 0; i < length && i + 2 < sizeof word && kind == WORD; i++) {
            word[i] = part[i], word[i + 1] = '*';
            if (part[i] == '=' || part[i] == ':') add(s, kind, word, i + 2, 0, 0);
        }
        const size_t key = strcspn(part, "=:/");
        if (kind == NO_WORD && key < length && key + 2 < sizeof word) {
            memcpy(word, part, key + 1), word[key + 1] = '*';
            add(s, kind, word, key + 2, 0, 0);
        } else if (*part < '0' || *part > '9') {
            add(s, kind, part, length, 0, 0);
        }
        part += length;
    }
}

/* Adds the properties that the sizes of all failing cases share. */
static void add_sizes(search *s) {
    for (int size = 0; size < SIZES; size++) {
        size_t least = SIZE_MAX, most = 0, bits = 0;
        unsigned whole = 0; /* bit k: 2^k divides some failing case's size */
        for (size_t i = 0; i < s->count; i++) {
            if (s->states[i] != CASE_FAILED) continue;
            const size_t v = size_of(&s->cases[i], size);
            least = v < least ? v : least, most = v > most ? v : most, bits |= v;
            for (int k = 1; k < HALVINGS; k++) whole |= (unsigned)(v % (1u << k) == 0) << k;
        }
        if (least == most) add(s, EQUAL, "", 0, size, least);
        add(s, LEAST, "", 0, size, least), add(s, MOST, "", 0, size, most);
        for (int k = 1; k < HALVINGS; k++) {
            if (bits % (1u << k) == 0) add(s, MULTIPLE, "", 0, size, 1u << k);
            if (!(whole & 1u << k)) add(s, NO_MULTIPLE, "", 0, size, 1u << k);
        }
    }
}

/* Number of remaining cases with the feature; 0 if a failing case lacks it. */
static size_t spread(const search *s, const feature *f) {
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!s->left[i]) continue;
        if (has(&s->cases[i], f))
            count++;
        else if (s->states[i] == CASE_FAILED)
            return 0;
    }
    return count;
}

/* Takes the feature that excludes most right cases. False: no feature excludes enough cases. */
static bool take(search *s, size_t failed, size_t *left) {
    size_t best = 0, fewest = SIZE_MAX;
    for (size_t k = 0; k < s->features; k++) {
        const size_t count = spread(s, &s->list[k]);
        if (count && count < fewest) fewest = count, best = k;
    }
    const bool much = fewest <= *left / 3 * 2 || (fewest < *left && 20 * failed >= 19 * fewest);
    if (s->takes == TAKEN_MAX || fewest == SIZE_MAX || !much) return false;
    const double by_chance = (double)failed * log((double)fewest / (double)*left);
    if (by_chance > log(1e-3 / (double)s->features)) return false;
    for (size_t i = 0; i < s->count; i++)
        s->left[i] = s->left[i] && has(&s->cases[i], &s->list[best]);
    s->taken[s->takes++] = s->list[best];
    *left = fewest;
    return true;
}

static void say(char *text, size_t size, const char *format, ...) {
    const size_t used = strlen(text);
    va_list more;
    va_start(more, format);
    vsnprintf(text + used, size - used, format, more);
    va_end(more);
}

static void say_feature(const feature *f, char *text, size_t size) {
    static const char *const signs[] = {[LEAST] = ">=", [MOST] = "<=", [EQUAL] = "="};
    const char *name = size_names[f->size];
    const int length = (int)strcspn(f->word, "*");
    switch (f->kind) {
    case WORD: say(text, size, "%.*s%s", length, f->word, f->word[length] ? "..." : ""); break;
    case NO_WORD:
        say(text, size, "no %.*s%s", length, f->word, f->word[length] ? "..." : "");
        break;
    case MULTIPLE: say(text, size, "%s a multiple of %zu", name, f->number); break;
    case NO_MULTIPLE: say(text, size, "%s not a multiple of %zu", name, f->number); break;
    default: say(text, size, "%s %s %zu", name, signs[f->kind], f->number);
    }
}

void when_text(const nl_case *cases, const unsigned char *states, size_t count, char *text,
               size_t size) {
    search *s = calloc(1, sizeof *s);
    size_t failed = 0, left = 0, first = count;
    *text = '\0';
    if (s) *s = (search){.cases = cases, .states = states, .count = count};
    if (s) s->left = calloc(count + 1, sizeof *s->left);
    for (size_t i = 0; s && s->left && i < count; i++) {
        s->left[i] = states[i] != CASE_NOT_RUN;
        left += s->left[i], failed += states[i] == CASE_FAILED;
        if (states[i] == CASE_FAILED && first == count) first = i;
    }
    if (failed >= FEWEST) {
        add_words(s, &cases[first], WORD), add_sizes(s);
        for (size_t i = 0; i < count; i++)
            if (states[i] == CASE_RIGHT) add_words(s, &cases[i], NO_WORD);
        while (20 * failed < 19 * left && take(s, failed, &left)) {
        }
        for (size_t k = 0; k < s->takes; k++) {
            say(text, size, k == 0 ? "all %zu have " : k + 1 < s->takes ? ", " : " and ", failed);
            say_feature(&s->taken[k], text, size);
        }
        if (s->takes) say(text, size, "; of such cases %zu of %zu fail", failed, left);
    }
    if (s) free(s->left);
    free(s);
}
