/* Lists of cases: braces are expanded as text, then each result is parsed.
 * SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "base/csv.h"
#include "cases/museum.h"

#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

static bool add_one(case_list *list, const char *text, char *error, size_t error_size) {
    if (list->tried++ >= CASES_MAX) {
        snprintf(error, error_size, "more than %d cases: narrow the braces", CASES_MAX);
        return false;
    }
    if ((list->count & (list->count - 1)) == 0) { /* the list is full if count is a power of two */
        size_t room = list->count ? 2 * list->count : 1;
        nl_case *more = realloc(list->items, room * sizeof *more);
        if (!more) return snprintf(error, error_size, "out of memory"), false;
        list->items = more;
    }
    if (!case_parse(text, &list->items[list->count], error, error_size)) return false;
    char *copy = strdup(text), **found = copy ? tsearch(copy, &list->texts, by_text) : NULL;
    if (!found) return free(copy), snprintf(error, error_size, "out of memory"), false;
    if (*found == copy)
        list->count++;
    else /* a repeated case */
        free(copy);
    return true;
}

static bool expand(case_list *list, const char *text, char *error, size_t error_size);

/* Expands head + one alternative + tail. */
static bool expand_with(case_list *list, const char *head, size_t head_length, const char *middle,
                        size_t middle_length, const char *tail, char *error, size_t error_size) {
    char whole[CASE_TEXT];
    int length = snprintf(whole, sizeof whole, "%.*s%.*s%s", (int)head_length, head,
                          (int)middle_length, middle, tail);
    if (length < 0 || (size_t)length >= sizeof whole) {
        snprintf(error, error_size, "a case is at most %d characters long", CASE_TEXT - 1);
        return false;
    }
    return expand(list, whole, error, error_size);
}

/* Parses the first, last and step of a range: "128..8192*2". False: no range. */
static bool parse_range(const char *text, size_t length, size_t *first, size_t *last, char *how,
                        size_t *step) {
    char copy[64];
    const char *p = copy;
    if (length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *how = '+', *step = 1;
    if (!parse_size(&p, first) || strncmp(p, "..", 2) != 0) return false;
    p += 2;
    if (!parse_size(&p, last)) return false;
    if (*p == '\0') return true;
    *how = *p++;
    return (*how == '*' || *how == '+') && parse_size(&p, step) && *p == '\0' &&
           *step >= (*how == '*' ? 2u : 1u) && (*how == '+' || *first > 0);
}

static bool expand(case_list *list, const char *text, char *error, size_t error_size) {
    const char *open = strchr(text, '{');
    if (!open) return add_one(list, text, error, error_size);
    const char *close = open, *comma;
    for (int depth = 0; *close; close++) {
        depth += (*close == '{') - (*close == '}');
        if (depth == 0) break;
    }
    if (!*close) return snprintf(error, error_size, "case %s: '{' without '}'", text), false;
    for (const char *item = open + 1; item <= close; item = comma + 1) {
        comma = item;
        for (int depth = 0; comma < close && (depth || *comma != ','); comma++)
            depth += (*comma == '{') - (*comma == '}');
        size_t head = (size_t)(open - text), length = (size_t)(comma - item), first, last, step;
        char how, number[32];
        if (!parse_range(item, length, &first, &last, &how, &step)) {
            if (!expand_with(list, text, head, item, length, close + 1, error, error_size))
                return false;
            continue;
        }
        if (first > last) {
            snprintf(error, error_size, "case %s: the range '%.*s' is empty", text, (int)length,
                     item);
            return false;
        }
        for (size_t v = first; v <= last;) {
            int digits = snprintf(number, sizeof number, "%zu", v);
            if (!expand_with(list, text, head, number, (size_t)digits, close + 1, error,
                             error_size))
                return false;
            if (how == '*' ? v > last / step : v > SIZE_MAX - step) break;
            v = how == '*' ? v * step : v + step;
        }
    }
    return true;
}

static bool add_museum(case_list *list, char *error, size_t error_size) {
    char spelling[CASE_TEXT];
    for (size_t i = 0; i < museum_count(); i++)
        for (size_t k = 0; museum_spelling(museum_at(i), k, spelling, sizeof spelling); k++)
            if (!expand(list, spelling, error, error_size)) return false;
    return true;
}

bool cases_add(case_list *list, const char *spelling, char *error, size_t error_size) {
    for (const char *p = spelling; *p; p++) {
        if (!is_control(*p)) continue;
        snprintf(error, error_size, "a case must not contain control character 0x%02x",
                 (unsigned char)*p);
        return false;
    }
    if (strcmp(spelling, "museum") == 0) return add_museum(list, error, error_size);
    return expand(list, spelling, error, error_size);
}

bool cases_add_file(case_list *list, const char *path, char *error, size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size};
    char *text, why[600];
    bool ok = scan_file(&s, &text);
    for (char *line; ok && (line = scan_line(&s));) {
        line[strcspn(line, "#\r")] = '\0';
        char *start = line + strspn(line, " \t"), *end = start + strcspn(start, " \t");
        char *more = end + strspn(end, " \t");
        if (!*start) continue;
        if (*more) snprintf(why, sizeof why, "write one case per line: remove '%.100s'", more);
        *end = '\0';
        ok = (!*more && cases_add(list, start, why, sizeof why)) ||
             scan_error(&s, s.first_line, "%s", why);
    }
    free(text);
    return ok;
}

void cases_free(case_list *list) {
    while (list->texts) {
        char *text = *(char **)list->texts;
        tdelete(text, &list->texts, by_text);
        free(text);
    }
    free(list->items);
    *list = (case_list){0};
}
