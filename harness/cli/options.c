/* SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "base/interrupt.h"
#include "cli/options.h"
#include "workbench/load.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *command = "";

bool options_fail(const char *format, ...) {
    va_list rest;
    fprintf(stderr, "normlab %s: ", command);
    va_start(rest, format);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fputc('\n', stderr);
    return false;
}

/* Returns why a file cannot be read, or NULL. */
static const char *unreadable(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0 || access(path, R_OK) != 0) return strerror(errno);
    return S_ISREG(about.st_mode) ? NULL : "it is not a file";
}

bool options_kernel(const char *file) {
    if (!file) return options_fail("which FILE.c?");
    const char *why = unreadable(file);
    if (why) return options_fail("cannot read %s: %s", file, why);
    return ends_with(file, ".c") || ends_with(file, ".so") ||
           options_fail("%s is neither a .c nor a .so file: compile it to a library, as examples/ "
                        "does, and %s that",
                        file, command);
}

int options_see_help(void) {
    fprintf(stderr, "See `normlab %s --help`.\n", command);
    return NL_EXIT_USAGE;
}

bool options_number(const char *name, const char *text, double least, double most, bool whole,
                    double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= least && *out <= most &&
        (!whole || *out == (int)*out))
        return true;
    return options_fail("--%s '%s' should be a %snumber from %g to %g", name, text,
                        whole ? "whole " : "", least, most);
}

static bool load(const char *file) {
    char error[9000];
    const char *why = unreadable(file);
    if (why) return options_fail("--load %s: %s", file, why);
    interrupt_watch(); /* Ctrl-C must remove the compiler's temporary files */
    const bool ok = load_any(file, error, sizeof error) && !interrupted();
    interrupt_as_usual();
    return ok || options_fail("--load %s: %s", file, interrupted() ? "interrupted" : error);
}

static bool take(const option_spec *o, const char *text) {
    double v;
    switch (o->kind) {
    case OPTION_FLAG: *(bool *)o->to = true; return true;
    case OPTION_TEXT: *(const char **)o->to = text; return true;
    case OPTION_NUMBER: return options_number(o->name, text, o->least, o->most, false, o->to);
    case OPTION_MAYBE:
        if (!text) return *(double *)o->to = o->least, true;
        return options_number(o->name, text, o->least, o->most, false, o->to);
    case OPTION_COUNT:
        if (!options_number(o->name, text, o->least, o->most, true, &v)) return false;
        *(int *)o->to = (int)v;
        return true;
    case OPTION_LOAD: return load(text);
    }
    return true;
}

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The number of letters to insert, remove, replace, or swap with their neighbour. */
static size_t distance(const char *a, size_t m, const char *b, size_t n) {
    size_t d[LONGEST + 1][LONGEST + 1]; /* d[i][k]: from i letters of a to k letters of b */
    for (size_t i = 0; i <= m; i++)
        for (size_t k = 0; k <= n; k++) {
            d[i][k] = i + k;
            if (!i || !k) continue;
            d[i][k] = least(d[i - 1][k], d[i][k - 1]) + 1;
            d[i][k] = least(d[i][k], d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
        }
    return d[m][n];
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

static const option_spec *all_options;

static const char *option_name(size_t i) {
    return all_options[i].name;
}

static bool unknown(const char *word, size_t count) {
    const size_t length = strcspn(word += 2, "=");
    for (size_t k = 0; k < count; k++)
        if (strncmp(word, option_name(k), length) == 0 && !option_name(k)[length])
            return options_fail("--%s takes no value", option_name(k));
    fprintf(stderr, "normlab %s: --%.*s is no option", command, (int)length, word);
    return guess_print(word, length, option_name, count, ""), false;
}

/* word: the option as the user wrote it. */
static bool is_exact(const option_spec *o, const char *word, bool again) {
    if (strncmp(word + 2, o->name, strlen(o->name)) != 0)
        return options_fail("%s is no option: write --%s", word, o->name);
    if (again && o->kind != OPTION_LOAD) return options_fail("--%s is given twice", o->name);
    return !optarg || *optarg || options_fail("--%s is empty", o->name);
}

int options_read(int argc, char **argv, const char *help, const option_spec *specs, size_t count,
                 bool strict, int *first) {
    struct option known[OPTIONS_MAX + 2] = {0};
    bool given[OPTIONS_MAX] = {false}, ok = true;
    int i = 0, code;
    command = argv[0], all_options = specs;
    for (size_t k = 0; k < count; k++) {
        known[k].name = specs[k].name;
        known[k].has_arg = specs[k].kind == OPTION_FLAG    ? no_argument
                           : specs[k].kind == OPTION_MAYBE ? optional_argument
                                                           : required_argument;
    }
    known[count] = (struct option){"help", no_argument, NULL, 'h'};
    optind = 1, opterr = 0;
    while (ok && (code = getopt_long(argc, argv, ":h", known, &i)) != -1) {
        const char *word = argv[optind - 1];
        if (code == 'h') return help ? fputs(help, stdout), NL_EXIT_OK : OPTIONS_HELP;
        if (code == '?' && optopt)
            ok = options_fail("-%c is no option: options begin with --", optopt);
        else if (code == '?')
            ok = unknown(word, count);
        else if (code == ':')
            ok = options_fail("%s needs a value", word);
        else
            ok =
                is_exact(&specs[i], optarg == word ? argv[optind - 2] : word, strict && given[i]) &&
                take(&specs[i], optarg);
        if (code == 0) given[i] = true;
    }
    *first = optind;
    if (!ok && interrupted()) return NL_EXIT_INTERRUPTED;
    return ok ? OPTIONS_DONE : options_see_help();
}
