/* `normlab doctor`: lists what would spoil a measurement on this machine, with advice.
 * SPDX-License-Identifier: MIT */
#include "claims/evidence.h"
#include "machine/doctor.h"
#include "machine/machine.h"
#include "cli/options.h"
#include "cli/passes.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <string.h>

static const char help[] =
    "normlab doctor [--csv]\n\n"
    "Lists what would spoil a measurement on this machine: frequency scaling, other work, limits,\n"
    "memory, the clock, the cost of threads. Takes under a second and changes nothing.\n"
    "--csv prints topic,level,value,advice for programs.\n\n"
    "Levels:\n"
    "  good     nothing to do\n"
    "  note     may disturb some measurements\n"
    "  bad      times measured now are wrong for this machine\n"
    "  unknown  this system hides the fact; the reason is given\n\n"
    "Examples:\n"
    "  normlab doctor\n"
    "  taskset -c 0 normlab doctor\n"
    "  OMP_PROC_BIND=close OMP_PLACES=cores normlab doctor\n"
    "  normlab doctor --csv > doctor.csv\n\n"
    "The findings are stored beside every results file. Exit codes: 0 done, whatever was found,\n"
    "2 bad usage.\n";

static void write_quoted(const char *text, const char *end) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text);
    }
    printf("\"%s", end);
}

static void write_csv(const finding *f, size_t count) {
    puts("topic,level,value,advice");
    for (size_t i = 0; i < count; i++) {
        printf("%s,%s,", f[i].topic, finding_level_name(f[i].level));
        write_quoted(f[i].value, ",");
        write_quoted(f[i].advice, "\n");
    }
}

/* Wraps text between the columns `from` and 100; the cursor is at `from`. */
static void write_wrapped(const char *text, int from) {
    for (int column = from; *text; text += strspn(text, " ")) {
        int word = (int)strcspn(text, " ");
        if (column > from && column + 1 + word > 100) {
            printf("\n%*s", from, "");
            column = from;
        }
        column += printf("%s%.*s", column > from ? " " : "", word, text);
        text += word;
    }
    putchar('\n');
}

static void write_table(const finding *f, size_t count) {
    static const char *const paint[] = {"\033[32m", "\033[33m", "\033[31m", "\033[2m"};
    bool colour = colour_wanted(stdout);
    doctor_summary(stdout, f, count);
    for (size_t i = 0; i < count; i++) {
        printf("  %-14s %s%-7s%s ", f[i].topic, colour ? paint[f[i].level] : "",
               finding_level_name(f[i].level), colour ? "\033[0m" : "");
        write_wrapped(f[i].value, 25);
        if (!f[i].advice[0]) continue;
        printf("%25s-> ", "");
        write_wrapped(f[i].advice, 28);
    }
}

/* If this machine has passes, prints how much ratios differ when they are measured again. */
static void write_noise(void) {
    evidence e = {0};
    evidence_read_folder(&e, passes_folder(), false, machine_kernels());
    if (e.passes > 1) {
        const noise n = noise_of(&e);
        printf("\npasses of claims here: %zu in %zu sittings. Standard deviation of a ratio "
               "(median):\n"
               "  %.2f %% within a process, %.2f %% between passes of a sitting",
               e.passes, e.sittings, 100 * n.rounds, 100 * n.passes);
        if (e.sittings > 1) printf(", %.2f %% between sittings", 100 * n.sittings);
        putchar('\n');
    } else {
        puts(
            "\nHow much do ratios differ when they are measured again? `normlab claims --passes 3` "
            "finds out.");
    }
    evidence_free(&e);
}

int cmd_doctor(int argc, char **argv) {
    bool csv = false;
    size_t count;
    const option_spec specs[] = {{"csv", OPTION_FLAG, &csv, 0, 0}};
    int first, code = options_read(argc, argv, help, specs, 1, false, &first);
    if (code == OPTIONS_DONE && first < argc)
        options_fail("unexpected '%s'", argv[first]), code = options_see_help();
    if (code != OPTIONS_DONE) return code;
    const finding *f = doctor_findings(&count);
    if (csv)
        write_csv(f, count);
    else
        write_table(f, count), write_noise();
    return NL_EXIT_OK;
}
