/* SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "cli/case_options.h"
#include "registry.h"
#include "cli/options.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool is_best(const char *pattern, size_t length) {
    return length == 4 && memcmp(pattern, "best", 4) == 0;
}

static bool is_widest(const nl_impl *impl) {
    const nl_impl *widest = nl_find(impl->name, NULL);
    return !widest || impl == widest;
}

/* Matches one GLOB[@ISA]. Without @ISA it matches any ISA, or with `race` only the widest. */
static bool matches(const char *pattern, size_t length, const nl_impl *impl, bool race) {
    char copy[256];
    if (length >= sizeof copy) return false;
    memcpy(copy, pattern, length);
    copy[length] = '\0';
    char *isa = strchr(copy, '@');
    if (isa) *isa++ = '\0';
    if (fnmatch(copy, impl->name, 0) != 0) return false;
    return isa ? fnmatch(isa, impl->isa, 0) == 0 : !race || is_widest(impl);
}

/* The pattern `best` matches nl_best()'s choice for the case. */
static bool match_any(const char *patterns, const nl_impl *impl, const nl_case *c, int threads,
                      bool race) {
    for (const char *p = patterns;; p++) {
        size_t length = strcspn(p, ",");
        if (is_best(p, length) ? c && impl == case_best(c, threads)
                               : matches(p, length, impl, race))
            return true;
        p += length;
        if (!*p) return false;
    }
}

bool impl_matches(const char *patterns, const nl_impl *impl) {
    return match_any(patterns, impl, NULL, 1, false);
}

int case_options_threads(const case_options *o, const nl_case *c) {
    return c->threads ? c->threads : o->threads;
}

bool case_options_selects(const case_options *o, const nl_impl *impl, const nl_case *c) {
    if (!nl_accepts(impl, &c->problem)) return false;
    if (!o->impl)
        return !nl_is_peer(impl->name) && !(o->race && (impl->demonstration || !is_widest(impl)));
    return match_any(o->impl, impl, c, case_options_threads(o, c), o->race);
}

bool case_options_is_baseline(const case_options *o, const nl_impl *impl, const nl_case *c) {
    return match_any(o->baseline, impl, c, case_options_threads(o, c), false);
}

static const char *name_of(size_t i) {
    return nl_impl_at(i)->name;
}

void impl_unknown(const char *pattern, size_t length) {
    const char *at = memchr(pattern, '@', length);
    if (is_file(pattern)) {
        fprintf(stderr, "normlab: %s is a file: quote the pattern, as 'layernorm/*'\n", pattern);
        return;
    }
    fprintf(stderr, "normlab: no implementation is called '%.*s'", (int)length, pattern);
    guess_print(pattern, at ? (size_t)(at - pattern) : length, name_of, nl_impl_count(),
                "; see `normlab list`");
}

/* Does at least one pattern match an implementation, and does every pattern without a wildcard?
 * Prints the patterns that match none. */
static bool known_impl(const char *patterns) {
    bool any = false, names = true;
    for (const char *p = patterns, *end;; p = end + 1) {
        size_t length = strcspn(p, ",");
        bool known = is_best(p, length);
        for (size_t i = 0; i < nl_impl_count(); i++)
            known |= matches(p, length, nl_impl_at(i), false);
        if (!known) impl_unknown(p, length);
        any |= known, names &= known || memchr(p, '*', length);
        end = p + length;
        if (!*end) return any && names;
    }
}

static void keep_small(case_list *cases) {
    size_t kept = 0;
    for (size_t i = 0; i < cases->count; i++) {
        const nl_problem *p = &cases->items[i].problem;
        if (p->n * p->c * p->s <= QUICK_MAX) cases->items[kept++] = cases->items[i];
    }
    if (kept < cases->count)
        fprintf(stderr, "--quick leaves out %zu of %zu cases, those above %d elements\n",
                cases->count - kept, cases->count, QUICK_MAX);
    cases->count = kept;
}

static bool add_cases(case_list *cases, const char *text) {
    char error[700];
    struct stat s;
    if (is_file(text) && ends_with(text, ".c"))
        return options_fail("%s is a kernel: use normlab try %s, or --load %s", text, text, text);
    if (stat(text, &s) == 0 && S_ISDIR(s.st_mode)) return options_fail("%s is a folder", text);
    if (is_file(text) ? cases_add_file(cases, text, error, sizeof error)
                      : cases_add(cases, text, error, sizeof error))
        return true;
    fprintf(stderr, "normlab: %s\n", error);
    if (!is_file(text) && !strchr(text, '{') && strstr(text, ".txt"))
        fprintf(stderr, "normlab: (there is no file of that name either)\n");
    return false;
}

/* A command takes exactly the options in its help text, each at the start of a line. */
static bool has_option(const char *help, const char *name) {
    char line[40];
    snprintf(line, sizeof line, "\n  --%s", name);
    const char *found = strstr(help, line);
    return found && strchr(" [", found[strlen(line)]);
}

int case_options_read(int argc, char **argv, const char *help, case_options *out) {
    const char *update = NULL;
    double seconds = 0;
    int first;
    out->also_long = -1;
    out->precision = 0.01, out->margin = 0.02;
    const option_spec all[] = {{"load", OPTION_LOAD, NULL, 0, 0},
                               {"impl", OPTION_TEXT, &out->impl, 0, 0},
                               {"baseline", OPTION_TEXT, &out->baseline, 0, 0},
                               {"out", OPTION_TEXT, &out->out, 0, 0},
                               {"errors", OPTION_TEXT, &out->errors, 0, 0},
                               {"update-errors", OPTION_TEXT, &update, 0, 0},
                               {"quick", OPTION_FLAG, &out->quick, 0, 0},
                               {"long", OPTION_MAYBE, &out->also_long, 0, 1e6},
                               {"seed", OPTION_COUNT, &out->seed, 0, 1000000},
                               {"first", OPTION_FLAG, &out->first, 0, 0},
                               {"batch", OPTION_FLAG, &out->batch, 0, 0},
                               {"threads", OPTION_COUNT, &out->threads, 1, 4096},
                               {"passes", OPTION_COUNT, &out->passes, 1, 1000},
                               {"seconds", OPTION_NUMBER, &seconds, 1e-6, 1e6},
                               {"precision", OPTION_NUMBER, &out->precision, 1e-6, 10},
                               {"margin", OPTION_NUMBER, &out->margin, 0, 10}};
    option_spec specs[sizeof all / sizeof *all];
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has_option(help, all[i].name)) specs[count++] = all[i];
    int code = options_read(argc, argv, help, specs, count, false, &first);
    if (code != OPTIONS_DONE) return code;
    if (update) out->errors = update, out->update_errors = true;
    if (out->also_long >= 0 && first < argc)
        return options_fail("--long runs the suite: do not name cases"), options_see_help();
    if (first < argc && !strstr(help, "CASE"))
        return options_fail("this command takes no cases"), options_see_help();
    if ((out->impl && !known_impl(out->impl)) || (out->baseline && !known_impl(out->baseline)))
        return options_see_help();
    if (out->quick) out->seconds = out->quick_seconds;
    if (seconds > 0) out->seconds = seconds;
    out->named = first < argc;
    for (int i = first; i < argc; i++)
        if (!add_cases(&out->cases, argv[i])) return NL_EXIT_USAGE;
    if (out->quick) keep_small(&out->cases);
    return OPTIONS_DONE;
}
