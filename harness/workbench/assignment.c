/* SPDX-License-Identifier: MIT */
#include "workbench/assignment.h"
#include "base/csv.h"
#include "cases/case.h"
#include "verify/pair.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static const char *const kinds[] =
    {[PART_CATEGORY] = "category", [PART_BITS] = "bits",   [PART_BATCH] = "batch",
     [PART_SPEED] = "speed",       [PART_COUNT] = "count", [PART_ERROR] = "error"};

/* Cuts the next word off *rest, which then begins at the following word; "": no word is left. */
static char *word(char **rest) {
    char *begin = *rest + strspn(*rest, " \t"), *end = begin + strcspn(begin, " \t");
    *rest = end + (*end != '\0');
    *end = '\0';
    *rest += strspn(*rest, " \t");
    return begin;
}

static bool number(const scan *s, const char *text, double least, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= least && *out <= 1e9) return true;
    return scan_error(s, s->first_line, "'%s' should be a number from %g to %g", text, least, 1e9);
}

static bool copy(const scan *s, const char *text, char *to, size_t size) {
    if (*text && strlen(text) < size) return strcpy(to, text), true;
    return scan_error(s, s->first_line,
                      *text ? "'%s' has more than %zu characters"
                            : "%sthe name is missing; it may have up to %zu characters",
                      text, size - 1);
}

static bool add_cases(const scan *s, part *p, const char *spelling) {
    char why[600];
    if (cases_add(&p->cases, spelling, why, sizeof why)) return true;
    return scan_error(s, s->first_line, "%s", why);
}

/* POINTS NAME: CASE CASE ... */
static bool read_category(const scan *s, part *p, char *rest) {
    char *colon = strstr(rest, ": ");
    if (!colon)
        return scan_error(s, s->first_line,
                          "should be: category POINTS NAME: CASE..., as in "
                          "'category 20 the formula: rmsnorm/forward/f32/3x7/normal'");
    *colon = '\0';
    char *cases = colon + 2;
    if (!copy(s, rest, p->name, sizeof p->name)) return false;
    for (char *one; *(one = word(&cases));)
        if (!add_cases(s, p, one)) return false;
    return p->cases.count > 0 || scan_error(s, s->first_line, "category '%s' has no case", p->name);
}

static bool copy_rung(const scan *s, const char *name, char to[64]) {
    if (nl_find(name, NULL)) return copy(s, name, to, 64);
    return scan_error(s, s->first_line, "there is no rung %s that runs here: see `normlab list`",
                      name);
}

/* Does the rung of this name (NULL: any rung) accept the case on this machine? If no implementation
 * takes the case, no student's kernel can. */
static bool can_take(const nl_case *c, const char *name) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if ((!name || strcmp(m->name, name) == 0) && !m->demonstration && nl_isa_runs(m->isa) &&
            nl_accepts(m, &c->problem))
            return true;
    }
    return false;
}

static bool can_be_met(const scan *s, const part *p) {
    const char *const rungs[] = {p->from_rung, p->to_rung};
    for (size_t i = 0; i < p->cases.count; i++)
        if (!can_take(&p->cases.items[i], NULL))
            return scan_error(s, s->first_line, "cannot be met: no kernel accepts %s",
                              p->cases.items[i].text);
    for (size_t i = 0; i < p->cases.count && p->kind == PART_BATCH; i++)
        if (!batch_shows(&p->cases.items[i]))
            return scan_error(
                s, s->first_line,
                "cannot test batches: %s should be a row norm of 2 packed rows or more, "
                "normal, up to 40000 elements, not in place",
                p->cases.items[i].text);
    for (int i = 0; i < 2; i++)
        if (p->kind >= PART_COUNT && strcmp(rungs[i], "limit") != 0 &&
            !can_take(p->cases.items, rungs[i]))
            return scan_error(s, s->first_line, "cannot be met: %s does not accept %s", rungs[i],
                              p->cases.items->text);
    return p->kind != PART_SPEED || p->cases.items->cache != CACHE_ROTATING ||
           scan_error(s, s->first_line,
                      "a speed is measured on warm or cold buffers, but %s rotates",
                      p->cases.items->text);
}

/* "in N steps" */
static bool read_steps(part *p, char *rest) {
    const char *in = word(&rest), *number = word(&rest), *steps = word(&rest);
    char *end;
    const long n = strtol(number, &end, 10);
    p->steps = (int)n;
    return strcmp(in, "in") == 0 && strcmp(steps, "steps") == 0 && !*rest && end != number &&
           !*end && n >= 1 && n <= 100;
}

/* POINTS CASE from RUNG to RUNG; for an error, from UNITS to UNITS. */
static bool read_scale(const scan *s, part *p, char *rest) {
    const char *spelling = word(&rest), *from_word = word(&rest), *from = word(&rest),
               *to_word = word(&rest), *to = word(&rest);
    const char *kind = kinds[p->kind];
    const bool of_rungs = p->kind >= PART_COUNT, steps = of_rungs && *rest;
    if (strcmp(from_word, "from") != 0 || strcmp(to_word, "to") != 0 || !*to ||
        (steps ? !read_steps(p, rest) : *rest))
        return scan_error(s, s->first_line, "should be: %s POINTS CASE from %s to %s%s", kind,
                          of_rungs ? "RUNG" : "UNITS",
                          p->kind == PART_SPEED ? "RUNG (or limit)"
                          : of_rungs            ? "RUNG"
                                                : "UNITS",
                          of_rungs ? ", perhaps with `in N steps` at the end" : "");
    if (!add_cases(s, p, spelling)) return false;
    if (p->cases.count != 1)
        return scan_error(s, s->first_line, "%s is measured on one case, but %s has %zu", kind,
                          spelling, p->cases.count);
    snprintf(p->name, sizeof p->name, "%s", kind);
    if (of_rungs)
        return copy_rung(s, from, p->from_rung) &&
               (p->kind == PART_SPEED && strcmp(to, "limit") == 0
                    ? copy(s, to, p->to_rung, sizeof p->to_rung)
                    : copy_rung(s, to, p->to_rung));
    if (!number(s, from, 0, &p->from) || !number(s, to, 0, &p->to)) return false;
    return (p->from > p->to && p->to > 0) ||
           scan_error(s, s->first_line, "%g units should be more than %g, and both more than 0",
                      p->from, p->to);
}

static bool read_part(const scan *s, assignment *a, int kind, char *rest) {
    if (a->count == PARTS_MAX) return scan_error(s, s->first_line, "more than %d parts", PARTS_MAX);
    part *p = &a->parts[a->count++];
    p->kind = kind, p->steps = 5;
    if (!number(s, word(&rest), 0, &p->points)) return false;
    return (kind <= PART_BATCH ? read_category(s, p, rest) : read_scale(s, p, rest)) &&
           can_be_met(s, p);
}

/* `forbid` also accepts stems, such as nl_*. */
static bool read_words(const scan *s, word_list *list, bool stems, char *rest) {
    for (char *one; *(one = word(&rest));) {
        size_t n = strspn(one, LETTERS);
        n += stems && one[n] == '*';
        if (one[n] || strchr("0123456789*", *one))
            return scan_error(s, s->first_line, "'%s' should be a word of C%s", one,
                              stems ? ", or the beginning of a word and a *" : "");
        if (list->count == WORDS_MAX)
            return scan_error(s, s->first_line, "more than %d words", WORDS_MAX);
        if (!copy(s, one, list->words[list->count++], 64)) return false;
    }
    return true;
}

static bool read_method(const scan *s, assignment *a, const char *name) {
    a->asks_method = true;
    return method_from_name(name, &a->method) ||
           scan_error(s, s->first_line, "'%s' should be %s", name, method_names());
}

static bool read_line(const scan *s, assignment *a, char *line) {
    for (char *end = line + strlen(line); end > line && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    char *rest = line;
    const char *key = word(&rest);
    if (!*key || *key == '#') return true;
    if (strcmp(key, "title") == 0) return copy(s, rest, a->title, sizeof a->title);
    if (strcmp(key, "method") == 0) return read_method(s, a, rest);
    if (strcmp(key, "headers") == 0) return copy(s, rest, a->headers, sizeof a->headers);
    if (strcmp(key, "forbid") == 0) return read_words(s, &a->forbidden, true, rest);
    if (strcmp(key, "allow") == 0) return read_words(s, &a->allowed, false, rest);
    for (int kind = PART_CATEGORY; kind < PART_KINDS; kind++)
        if (strcmp(key, kinds[kind]) == 0) return read_part(s, a, kind, rest);
    return scan_error(s, s->first_line,
                      "'%s' should be title, category, bits, batch, speed, count, error, method, "
                      "headers, forbid or allow",
                      key);
}

/* Parses the text at s, and frees it. */
static bool read_lines(scan *s, char *text, assignment *out) {
    bool ok = true, right = false;
    *out = (assignment){0};
    for (char *line; ok && (line = scan_line(s));) ok = read_line(s, out, line);
    free(text);
    for (size_t i = 0; i < out->count; i++) right = right || out->parts[i].kind == PART_CATEGORY;
    if (ok && !*out->title) ok = scan_error(s, 0, "it has no title");
    if (ok && !right) ok = scan_error(s, 0, "it has no category: nothing would be checked");
    if (!ok) assignment_free(out);
    return ok;
}

bool assignment_read(const char *path, assignment *out, char *error, size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size};
    char *text;
    *out = (assignment){0};
    return scan_file(&s, &text) && read_lines(&s, text, out);
}

bool assignment_parse(const char *name, const char *from, assignment *out, char *error,
                      size_t error_size) {
    scan s = {.path = name, .error = error, .error_size = error_size, .line = 1};
    char *text = s.at = strdup(from);
    *out = (assignment){0};
    if (!text) return scan_error(&s, 0, "no memory for its text");
    s.end = text + strlen(text);
    return read_lines(&s, text, out);
}

void assignment_free(assignment *a) {
    for (size_t i = 0; i < a->count; i++) cases_free(&a->parts[i].cases);
    *a = (assignment){0};
}

bool word_list_has(const word_list *list, const char *word) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->words[i], word) == 0) return true;
    return false;
}
