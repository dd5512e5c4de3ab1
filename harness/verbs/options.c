/* Options by getopt_long; the rest of the line is cases or files of them.
 * SPDX-License-Identifier: MIT */
#include "verbs/options.h"
#include "registry.h"
#include "verbs/verbs.h"

#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool is_best(const char *pattern, size_t length) {
    return length == 4 && memcmp(pattern, "best", 4) == 0;
}

/* Of the ISAs that a name is there for, the widest that runs here: the last one in the table. */
static bool is_widest(const nl_impl *impl) {
    const nl_impl *widest = NULL;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *other = nl_impl_at(i);
        if (strcmp(other->name, impl->name) == 0 && nl_isa_runs(other->isa)) widest = other;
    }
    return !widest || impl == widest;
}

/* One GLOB[@ISA] against one implementation; without @ISA any, or in a race the widest. */
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

/* Any of the patterns; `best` matches the best one, where that is known. */
static bool match_any(const char *patterns, const nl_impl *impl, const nl_impl *best, bool race) {
    for (const char *p = patterns;; p++) {
        size_t length = strcspn(p, ",");
        if (is_best(p, length) ? impl == best : matches(p, length, impl, race)) return true;
        p += length;
        if (!*p) return false;
    }
}

bool options_match(const char *patterns, const nl_impl *impl) {
    return match_any(patterns, impl, NULL, false);
}

int options_threads(const options *o, const nl_case *c) {
    return c->threads ? c->threads : o->threads;
}

bool options_want(const options *o, const nl_impl *impl, const nl_case *c) {
    if (!nl_accepts(impl, &c->problem)) return false;
    if (!o->impl)
        return !nl_is_peer(impl->name) && !(o->race && (impl->demonstration || !is_widest(impl)));
    return match_any(o->impl, impl, nl_best(&c->problem, options_threads(o, c)), o->race);
}

/* A number in [least, most], or a message. */
static bool number(const char *option, const char *text, double least, double most, bool whole,
                   double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= least && *out <= most &&
        (!whole || *out == (int)*out))
        return true;
    fprintf(stderr, "normlab: --%s '%s' should be a %snumber from %g to %g\n", option, text,
            whole ? "whole " : "", least, most);
    return false;
}

/* At least one of the patterns stands for something; the others are named. */
static bool known_impl(const char *patterns) {
    bool any = false;
    for (const char *p = patterns, *end;; p = end + 1) {
        size_t length = strcspn(p, ",");
        bool known = is_best(p, length);
        for (size_t i = 0; i < nl_impl_count(); i++)
            known |= matches(p, length, nl_impl_at(i), false);
        if (!known)
            fprintf(stderr, "normlab: no implementation is called '%.*s'; see `normlab list`\n",
                    (int)length, p);
        any |= known;
        end = p + length;
        if (!*end) return any;
    }
}

int options_parse(int argc, char **argv, const char *help, options *out) {
    static const struct option known[] = {{"impl", required_argument, NULL, 'i'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"precision", required_argument, NULL, 'p'},
                                          {"margin", required_argument, NULL, 'm'},
                                          {"baseline", required_argument, NULL, 'b'},
                                          {"processes", required_argument, NULL, 'P'},
                                          {"errors", required_argument, NULL, 'e'},
                                          {"update-errors", required_argument, NULL, 'u'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    char error[700];
    *out =
        (options){.threads = 1, .seconds = 0.3, .precision = 0.01, .margin = 0.02, .processes = 1};
    bool ok = true;
    double v = 0;
    optind = 1;
    for (int o; ok && (o = getopt_long(argc, argv, "h", known, NULL)) != -1;) {
        switch (o) {
        case 'i': ok = known_impl(out->impl = optarg); break;
        case 'b': ok = known_impl(out->baseline = optarg); break;
        case 't':
            ok = number("threads", optarg, 1, 4096, true, &v);
            out->threads = (int)v;
            out->threads_given = true;
            break;
        case 'P':
            ok = number("processes", optarg, 1, 1000, true, &v);
            out->processes = (size_t)v;
            break;
        case 's':
            ok = number("seconds", optarg, 1e-6, 1e6, false, &out->seconds);
            out->seconds_given = true;
            break;
        case 'p': ok = number("precision", optarg, 1e-6, 10, false, &out->precision); break;
        case 'm': ok = number("margin", optarg, 0, 10, false, &out->margin); break;
        case 'o': out->out = optarg; break;
        case 'e': out->errors = optarg, out->update_errors = false; break;
        case 'u': out->errors = optarg, out->update_errors = true; break;
        case 'q': out->quick = true; break;
        case 'h': fputs(help, stdout); return NL_EXIT_OK;
        default: ok = false;
        }
    }
    if (out->errors && strcmp(argv[0], "check") != 0)
        ok = false, fprintf(stderr, "normlab: only check compares with a file of errors\n");
    if (!ok) {
        fprintf(stderr, "See `normlab %s --help`.\n", argv[0]);
        return NL_EXIT_USAGE;
    }
    if (out->quick && !out->seconds_given) out->seconds = 0.05;
    out->named = optind < argc;
    for (int i = optind; i < argc; i++) {
        bool ok = is_file(argv[i]) ? cases_add_file(&out->cases, argv[i], error, sizeof error)
                                   : cases_add(&out->cases, argv[i], error, sizeof error);
        if (ok) continue;
        fprintf(stderr, "normlab: %s\n", error);
        if (!strchr(argv[i], '{') && strstr(argv[i], ".txt"))
            fprintf(stderr, "normlab: (there is no file %s either)\n", argv[i]);
        return NL_EXIT_USAGE;
    }
    if (!out->quick) return -1;
    size_t kept = 0;
    for (size_t i = 0; i < out->cases.count; i++) {
        const nl_problem *p = &out->cases.items[i].problem;
        if (p->n * p->c * p->s <= QUICK_MOST) out->cases.items[kept++] = out->cases.items[i];
    }
    if (kept < out->cases.count)
        fprintf(stderr, "--quick leaves out %zu of %zu cases, those above %d elements\n",
                out->cases.count - kept, out->cases.count, QUICK_MOST);
    out->cases.count = kept;
    return -1;
}
