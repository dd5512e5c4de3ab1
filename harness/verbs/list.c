/* `normlab list`: the table of implementations. SPDX-License-Identifier: MIT */
#include "cases/names.h"
#include "layer.h"
#include "tuning.h"
#include "verbs/options.h"
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "normlab list [--csv] [--load FILE.so]...\n\n"
    "The table of implementations: name, ISA, layers, passes, storage types, how the statistics\n"
    "are computed, and whether this processor runs it. A demonstration exists to show an error:\n"
    "nl_best() never chooses it, and it has no bound. Below the table: the tuning in force.\n"
    "--csv prints the table for programs; --load FILE.so adds the kernels of a library\n"
    "(normlab_kernel.h) to it, and may be repeated.\n\n"
    "Examples:\n"
    "  normlab list\n"
    "  normlab list --csv > implementations.csv\n"
    "  normlab list --load ./mine.so\n";

/* The names of the set bits, separated by commas or, in CSV, by spaces. */
static const char *names(unsigned bits, const char *(*name)(int), char between, char text[128]) {
    char *end = text;
    *end = '\0';
    for (int i = 0; bits >> i; i++)
        if (bits >> i & 1)
            end += snprintf(end, 128 - (size_t)(end - text), "%.1s%s", end == text ? "" : &between,
                            name(i));
    return text;
}

int verb_list(int argc, char **argv) {
    bool csv = false;
    char a[128], b[128], d[128];
    const option_spec specs[] = {{"csv", OPTION_FLAG, &csv, 0, 0},
                                 {"load", OPTION_LOAD, NULL, 0, 0}};
    int first, code = options_read(argc, argv, specs, 2, false, &first);
    if (code == OPTIONS_HELP) return fputs(help, stdout), NL_EXIT_OK;
    if (code == OPTIONS_DONE && first < argc)
        options_fail("unexpected '%s'", argv[first]), code = options_see_help();
    if (code != OPTIONS_DONE) return code;
    if (csv)
        puts("impl,isa,ops,passes,dtypes,method,lanes,threaded,range_safe,runs_here,"
             "demonstration,c_max,about");
    else
        printf("%-26s %-6s %-22s %-10s %-13s %-9s %-5s %s\n", "name", "isa", "layers", "passes",
               "types", "method", "runs", "about");
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        char between = csv ? ' ' : ',';
        names(m->ops, op_name, between, a);
        names(m->passes, pass_name, between, b);
        names(m->dtypes, dtype_name, between, d);
        bool runs = nl_isa_runs(m->isa);
        const char *method = method_name(m);
        if (csv)
            printf("%s,%s,%s,%s,%s,%s,%d,%d,%d,%d,%d,%zu,\"%s\"\n", m->name, m->isa, a, b, d,
                   method, m->lanes, m->threaded, m->range_safe, runs, m->demonstration, m->c_max,
                   m->about);
        else
            printf("%-26s %-6s %-22s %-10s %-13s %-9s %-5s %s%s\n", m->name, m->isa, a, b, d,
                   method, runs ? "yes" : "no", m->demonstration ? "demonstration: " : "",
                   m->about);
    }
    if (!csv) {
        char tuning[200];
        nl_tuning_describe(tuning, sizeof tuning);
        printf("\ntuning of nl_best() is %s\n", tuning);
    }
    return NL_EXIT_OK;
}
