/* `normlab count`: instructions and simulated cache misses of one call.
 * SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "cases/case.h"
#include "cli/counting.h"
#include "cli/options.h"
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "normlab count [options] [FILE.c] CASE\n\n"
    "Verifies a kernel, then counts a call's instructions, and its misses in two simulated, warm\n"
    "caches of 32 KiB and 8 MiB, with valgrind's callgrind. Nothing is timed. The estimated\n"
    "cycles are one for each instruction, 10 more for each miss of the first cache and 100 more\n"
    "for each miss of the last; they leave out latencies of instructions. Other programs do not\n"
    "change the counts; another compiler, or build of normlab, does. Kernels are compiled for\n"
    "AVX2 at most, the widest instruction set that valgrind supports.\n\n"
    "  --impl NAME   a rung to count, with or without a FILE\n"
    "  --load FILE   adds the kernels of FILE.so or FILE.c, for --impl (`normlab bench --help`)\n\n"
    "Exit codes: 0 done, 1 wrong or not counted, 2 bad usage or no valgrind.\n\n"
    "Examples:\n"
    "  normlab count --impl rmsnorm/one_pass rmsnorm/forward/f32/8x1024/normal\n"
    "  normlab count --impl rmsnorm/naive mine.c rmsnorm/forward/f32/8x1024/normal\n";

static void print_counted(const char *name, counted k) {
    printf("%-28s %10.0f instructions %8.0f + %.0f misses %10.0f estimated cycles\n", name,
           k.instructions, k.first, k.last, counted_cost(k));
}

static bool count(const char *file, const char *rung, const nl_case *c, char *error, size_t size) {
    counted k;
    bool ok = true;
    if (file && (ok = counting_file(file, c, &k, error, size))) print_counted(file, k);
    if (ok && rung && (ok = counting_rung(rung, c, &k, error, size))) print_counted(rung, k);
    return ok;
}

int cmd_count(int argc, char **argv) {
    const char *impl = NULL;
    bool inside = false, right = false; /* stages of a count, each in a process of its own */
    int first;
    char error[9000] = "", name[200] = "";
    case_list cases = {0};
    const option_spec specs[] = {{"impl", OPTION_TEXT, &impl, 0, 0},
                                 {"load", OPTION_LOAD, NULL, 0, 0},
                                 {"inside", OPTION_FLAG, &inside, 0, 0},
                                 {"right", OPTION_FLAG, &right, 0, 0}};
    int code = options_read(argc, argv, help, specs, 4, true, &first);
    if (code != OPTIONS_DONE) return code;
    const bool has_file = argc - first == 2;
    const char *file = has_file ? argv[first] : NULL;
    if (argc - first < 1 || argc - first > 2 || (!file && !impl))
        return options_fail("name a CASE, and a FILE.c or --impl NAME"), options_see_help();
    if (file && (!options_kernel(file) || !ends_with(file, ".c"))) return options_see_help();
    if (!cases_add(&cases, argv[first + has_file], error, sizeof error))
        return options_fail("%s", error), NL_EXIT_USAGE;
    const nl_case *c = cases.items;
    const char *at = impl ? strchr(impl, '@') : NULL;
    if (impl) snprintf(name, sizeof name, "%.*s", (int)(at ? at - impl : (long)strlen(impl)), impl);
    const nl_impl *m = impl ? nl_find(name, at ? at + 1 : NULL) : NULL;
    bool ok = true;
    code = NL_EXIT_USAGE;
    if (cases.count != 1)
        options_fail("name one case, not %zu", cases.count);
    else if (c->threads > 1 || c->team)
        options_fail("counting uses one thread: leave threads and team out of %s", c->text);
    else if (impl && !m)
        options_fail("no implementation is called '%s'", impl);
    else if (impl && !nl_accepts(m, &c->problem))
        options_fail("%s does not accept %s", impl, c->text);
    else if (!inside && !right && !counting_works())
        options_fail("valgrind is not installed: apt-get install valgrind");
    else {
        ok = inside  ? counting_calls(m, c, error, sizeof error)
             : right ? counting_right(m, c, error, sizeof error)
                     : count(file, impl ? name : NULL, c, error, sizeof error);
        code = ok ? NL_EXIT_OK : NL_EXIT_FAILED;
    }
    if (!ok && *error) options_fail("%s", error);
    cases_free(&cases);
    return code;
}
