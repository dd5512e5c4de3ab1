/* `normlab list`: prints the table of implementations. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "tuning.h"
#include "cli/case_options.h"
#include "cli/options.h"
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "normlab list [--csv] [--load FILE]... [PATTERN]...\n\n"
    "Prints the table of implementations. PATTERN is a part of a name, or GLOB[@ISA]. With a\n"
    "PATTERN, each implementation is listed with its layers, passes, storage types, method and\n"
    "instruction sets; brackets mark the sets that this processor lacks. A demonstration exists\n"
    "to show an error: nl_best() never chooses it, and it has no bound. Without a PATTERN, the\n"
    "tuning follows the table. --csv prints the table for programs; --load FILE adds the kernels\n"
    "of FILE.so or FILE.c to the table (`normlab bench --help`), and may be repeated.\n\n"
    "Examples:\n"
    "  normlab list\n"
    "  normlab list backward 'rmsnorm/*'\n"
    "  normlab list --csv > implementations.csv\n"
    "  normlab list --load ./mine.so\n";

static bool wanted(const nl_impl *m, int count, char **patterns) {
    for (int i = 0; i < count; i++)
        if (strstr(m->name, patterns[i]) || impl_matches(patterns[i], m)) return true;
    return count == 0;
}

static void print_csv(const nl_impl *m) {
    char a[128], b[128], d[128];
    printf("%s,%s,%s,%s,%s,%s,%d,%d,%d,%d,%d,%zu,\"%s\"\n", m->name, m->isa,
           names_of(m->ops, op_name, " ", a), names_of(m->passes, pass_name, " ", b),
           names_of(m->dtypes, dtype_name, " ", d), method_name(m), m->lanes, m->threaded,
           m->range_safe, nl_isa_runs(m->isa), m->demonstration, m->c_max, m->about);
}

/* Prints row i of the table: the implementations that share a name. */
static void print(size_t i, bool details) {
    const nl_impl *m = nl_impl_at(i);
    char a[128], b[128], d[128];
    for (size_t k = 0; k < i; k++)
        if (strcmp(nl_impl_at(k)->name, m->name) == 0) return;
    printf("%s: %s%s\n", m->name, m->demonstration ? "demonstration: " : "", m->about);
    if (!details) return;
    printf("    %s; %s; %s; %s;", names_of(m->ops, op_name, " ", a),
           names_of(m->passes, pass_name, " ", b), names_of(m->dtypes, dtype_name, " ", d),
           method_name(m));
    for (size_t k = i; k < nl_impl_count(); k++) {
        const nl_impl *other = nl_impl_at(k);
        if (strcmp(other->name, m->name) == 0)
            printf(nl_isa_runs(other->isa) ? " %s" : " (%s)", other->isa);
    }
    putchar('\n');
}

int cmd_list(int argc, char **argv) {
    bool csv = false;
    size_t shown = 0;
    const option_spec specs[] = {{"csv", OPTION_FLAG, &csv, 0, 0},
                                 {"load", OPTION_LOAD, NULL, 0, 0}};
    int first, code = options_read(argc, argv, help, specs, 2, false, &first);
    if (code != OPTIONS_DONE) return code;
    if (csv)
        puts("impl,isa,ops,passes,dtypes,method,lanes,threaded,range_safe,runs_here,"
             "demonstration,c_max,about");
    for (size_t i = 0; i < nl_impl_count(); i++) {
        if (!wanted(nl_impl_at(i), argc - first, argv + first)) continue;
        shown++;
        if (csv)
            print_csv(nl_impl_at(i));
        else
            print(i, first < argc);
    }
    if (!shown) return impl_unknown(argv[first], strlen(argv[first])), options_see_help();
    if (!csv && first == argc) {
        char tuning[200];
        nl_tuning_describe(tuning, sizeof tuning);
        int commas = 0;
        for (char *at = tuning; (at = strstr(at, ", ")); at++)
            if (commas++ % 2) at[1] = '\n';
        printf("\ntuning of nl_best() is %s\n", tuning);
    }
    return NL_EXIT_OK;
}
