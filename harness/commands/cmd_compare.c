/* `normlab compare`: compares two result files, or two folders of result files.
 * SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "results/results.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "normlab compare [options] A.csv B.csv\n"
    "normlab compare [options] FOLDER_A FOLDER_B\n"
    "normlab compare [options] PASSES_A PASSES_B\n\n"
    "Is B FASTER or SLOWER than A, the SAME, or is that NOT RESOLVED? Matches rows by case,\n"
    "implementation, ISA and threads. In two folders it matches files by name (not *.rounds.csv).\n"
    "In two folders of passes (`bench --passes`) each time is divided by the baseline's time in\n"
    "the same quiet rounds (docs/measuring.md); the interval is Student's 99 % interval, from the\n"
    "differences between passes; with one pass a side, it compares times. The last rows are each\n"
    "implementation's mean over its cases: a mean shows smaller changes, because noise differs\n"
    "from case to case. FASTER and SLOWER: the whole interval of the ratio B/A lies outside the\n"
    "band, the larger of the two files' A/A bands. SAME: interval and band lie within the margin.\n"
    "A row that cannot be compared is refused, with the reason. If cpu, caches or architecture\n"
    "differ or are not known, it compares shares of each machine's own limit (limit_pct), not\n"
    "times.\n\n"
    "  --margin M         SAME: interval and band lie within +- M (0.02, that is 2 %)\n"
    "  --csv              CSV for programs; if its ratio of times is below 1, B is faster\n"
    "  --fail-if-slower   exit code 1 if anything is SLOWER (refused rows do not count)\n\n"
    "Files were measured one after the other, so anything that changed in between (load,\n"
    "clock speed, memory layout) looks like a change of the program. To see that effect,\n"
    "measure A twice and compare both files. The implementations of one `normlab bench` take\n"
    "turns. Two programs can take turns, too: each adds one pass, again and again.\n\n"
    "Exit codes: 0 compared, 1 nothing could be compared, 2 bad usage or unreadable input.\n\n"
    "Examples:\n"
    "  normlab compare before.csv after.csv\n"
    "  normlab compare results/monday results/tuesday --margin 0.05 --fail-if-slower\n"
    "  normlab bench CASE --passes 3 --out before   # then change the kernel, and build\n"
    "  normlab bench CASE --passes 3 --out after && normlab compare before after\n"
    "  normlab compare laptop.csv server.csv --csv > both.csv\n";

typedef struct sheet_style {
    double margin; /* the logarithm of a ratio */
    bool csv, colour;
} sheet_style;

/* Counts rows by outcome, over several sheets. */
typedef struct tally {
    size_t verdicts[NOT_RESOLVED + 1], refused, no_band, slower_over_cases;
} tally;

typedef struct sheet {
    const char *name;
    const sheet_style *style;
    tally *total;
    bool shares;       /* compares shares of the limit, not times */
    int width;         /* length of the longest implementation's name */
    char heading[512]; /* the case of the last row */
} sheet;

/* A mean over cases has no time of its own. */
static double measured(const sheet *s, const row_pair *p, const result *r) {
    return !r || p->cases ? NAN : s->shares ? r->limit_pct : r->ns;
}

static const char *cell(const sheet *s, const row_pair *p, const result *r, char text[32]) {
    double v = measured(s, p, r);
    if (isnan(v)) return "-";
    if (!s->shares) return human_ns(v, text);
    return snprintf(text, 32, "%.4g %%", v), text;
}

static const char *word(const row_pair *p) {
    return p->refused ? "REFUSED" : comparison_name(p->verdict);
}

/* The case, or for a mean over cases their number. */
static const char *case_of(const row_pair *p, char text[32]) {
    if (!p->cases) return (p->a ? p->a : p->b)->spelling;
    return snprintf(text, 32, "all %zu cases", p->cases), text;
}

static void print_csv(const sheet *s, const row_pair *p) {
    const result *any = p->a ? p->a : p->b;
    char text[32];
    csv_text(stdout, s->name);
    csv_text(stdout, case_of(p, text));
    csv_text(stdout, any->impl);
    csv_text(stdout, any->isa);
    printf("%d,%s,", any->threads, word(p));
    csv_text(stdout, p->why);
    printf("%s,", s->shares ? "limit_pct" : p->relative ? "ns over baseline" : "ns");
    const double numbers[] = {measured(s, p, p->a), measured(s, p, p->b), exp(p->ratio.median),
                              exp(p->ratio.low),    exp(p->ratio.high),   expm1(p->band)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) csv_number(stdout, numbers[i]);
    printf("%.6g\n", expm1(s->style->margin));
}

static void print_row(sheet *s, const row_pair *p) {
    static const char *const paints[] = {"\033[32m", "\033[31m", "", "\033[33m", "\033[2m"};
    const char *paint = s->style->colour ? paints[p->refused ? NOT_RESOLVED + 1 : p->verdict] : "";
    const result *any = p->a ? p->a : p->b;
    char cases[32], texts[2][32], r[32] = "-", interval[64] = "-", noise[32] = "-";
    const char *spelling = case_of(p, cases);
    if (strcmp(spelling, s->heading) != 0)
        printf("\n%s\n  %-*s %-7s %7s %9s %9s %7s %-16s %8s  %s\n", spelling, s->width,
               "implementation", "isa", "threads", s->shares ? "A, limit" : "A",
               s->shares ? "B, limit" : "B", s->shares ? "A/B" : "B/A", "interval", "band", "B is");
    snprintf(s->heading, sizeof s->heading, "%s", spelling);
    if (!p->refused) {
        snprintf(r, sizeof r, "%.3f", exp(p->ratio.median));
        snprintf(interval, sizeof interval, "[%.3f, %.3f]", exp(p->ratio.low), exp(p->ratio.high));
        snprintf(noise, sizeof noise, "%.2f %%", 100 * expm1(p->band));
    }
    printf("  %-*s %-7s %7d %9s %9s %7s %-16s %8s  %s%s%s%s%s\n", s->width, any->impl, any->isa,
           any->threads, cell(s, p, p->a, texts[0]), cell(s, p, p->b, texts[1]), r, interval, noise,
           paint, word(p), *paint ? "\033[0m" : "", *p->why ? ": " : "", p->why);
}

static void take_pair(void *context, const row_pair *p) {
    sheet *s = context;
    if (p->cases)
        s->total->slower_over_cases += p->verdict == SLOWER;
    else if (p->refused)
        s->total->refused++;
    else
        s->total->verdicts[p->verdict]++;
    s->total->no_band += p->no_band;
    if (s->style->csv)
        print_csv(s, p);
    else
        print_row(s, p);
}

static void sheet_heading(void) {
    puts("file,case,impl,isa,threads,verdict,why,measure,a,b,ratio,ratio_low,ratio_high,band,"
         "margin");
}

static void sheet_print(const char *name, const results file[2], bool shares,
                        const sheet_style *style, tally *total) {
    sheet s = {name, style, total, shares, (int)strlen("implementation"), ""};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < file[side].count; i++) {
            int length = (int)strlen(file[side].rows[i].impl);
            if (length > s.width) s.width = length < 60 ? length : 60;
        }
    compare_results(file, shares, style->margin, take_pair, &s);
    if (!style->csv) putchar('\n');
}

static const char sides[] = "AB";

typedef struct job {
    sheet_style style;
    tally total;
    size_t lone_files, unreadable;
    char *differing; /* the differing facts that were printed last */
} job;

/* Warns of facts that differ, once for a whole folder. */
static void warn_differing(job *j, const results file[2]) {
    char *text = facts_differing(file);
    if (text && !(j->differing && strcmp(j->differing, text) == 0))
        fprintf(stderr, "warning: A and B were not measured alike:\n%s", text);
    free(j->differing);
    j->differing = text;
}

/* Prints how much ratios vary between processes, and between passes. */
static void describe_passes(const results *file, int side, bool shares) {
    if (file->passes < 2) return;
    pool_spread s = pool_spread_of(file, shares ? PASS_SHARE : PASS_QUIET);
    if (isnan(s.between)) s = pool_spread_of(file, PASS_TIME);
    if (side == 0 && !shares)
        fprintf(stderr,
                "B/A compares times relative to the baseline's in the same quiet rounds, in which "
                "other work disturbed least; the baseline's own row compares times\n");
    fprintf(stderr,
            "%c: %zu passes; medians over rows: %.0f processes used per pass; standard deviation "
            "%.2f %% between processes, %.2f %% between passes\n",
            sides[side], file->passes, s.count, 100 * s.within, 100 * s.between);
}

static void compare_files(job *j, const char *name, const char *const paths[2]) {
    char error[700], why[200];
    results file[2];
    bool ok[2];
    for (int side = 0; side < 2; side++) {
        ok[side] = (pool_is(paths[side]) ? pool_read : results_read)(paths[side], &file[side],
                                                                     error, sizeof error);
        if (!ok[side])
            options_fail("%s", error), j->unreadable++;
        else if (*file[side].warning)
            fprintf(stderr, "warning: %s\n", file[side].warning);
    }
    if (ok[0] && ok[1]) {
        warn_differing(j, file);
        bool shares = !facts_one_machine(file, why);
        if (!j->style.csv) printf("A  %s\nB  %s\n", paths[0], paths[1]);
        if (shares)
            fprintf(j->style.csv ? stderr : stdout,
                    "%s: compares shares of each machine's own limit,\nnot times; FASTER is nearer "
                    "to the limit.\n",
                    why);
        sheet_print(name, file, shares, &j->style, &j->total);
        for (int side = 0; side < 2; side++) describe_passes(&file[side], side, shares);
    }
    for (int side = 0; side < 2; side++)
        if (ok[side]) results_free(&file[side]);
}

/* Compares the files of both folders by name, in alphabetical order. */
static void compare_folders(job *j, char **folders) {
    for (int side = 0; side < 2; side++) {
        if (access(folders[side], R_OK | X_OK) == 0) continue;
        options_fail("%s: %s", folders[side], strerror(errno));
        j->unreadable++;
    }
    for (int side = 0; side < 2 && !j->unreadable; side++) {
        glob_t found = {0};
        files_in(folders[side], "*.csv", &found);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *path = found.gl_pathv[i], *name = strrchr(path, '/') + 1;
            char other[CSV_PATH];
            snprintf(other, sizeof other, "%s/%s", folders[!side], name);
            if (ends_with(name, ".rounds.csv")) continue;
            if (access(other, F_OK) != 0)
                fprintf(stderr, "only in %c: %s\n", sides[side], path), j->lone_files++;
            else if (side == 0)
                compare_files(j, name, (const char *const[]){path, other});
        }
        globfree(&found);
    }
}

static int finish(const job *j, bool fail_if_slower) {
    size_t compared = 0;
    for (int v = FASTER; v <= NOT_RESOLVED; v++) compared += j->total.verdicts[v];
    if (j->total.no_band)
        fprintf(stderr, "%zu rows lack an A/A band: the margin replaces it\n", j->total.no_band);
    if (j->total.verdicts[FASTER] || j->total.verdicts[SLOWER] || j->total.slower_over_cases)
        fprintf(stderr, "A and B did not take turns: measure A twice and compare both files, to "
                        "see how much one program's times change\n");
    fprintf(stderr, "%zu compared: ", compared);
    for (int v = FASTER; v <= NOT_RESOLVED; v++)
        fprintf(stderr, "%s%zu %s", v ? ", " : "", j->total.verdicts[v],
                comparison_name((comparison)v));
    fprintf(stderr, "; %zu refused", j->total.refused);
    if (j->total.slower_over_cases)
        fprintf(stderr, "; %zu SLOWER in the mean over their cases", j->total.slower_over_cases);
    if (j->lone_files) fprintf(stderr, "; %zu files in one folder only", j->lone_files);
    fputc('\n', stderr);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        options_fail("writing the results failed: %s", strerror(errno));
        return NL_EXIT_FAILED;
    }
    if (j->unreadable) return NL_EXIT_USAGE;
    if (compared == 0) fprintf(stderr, "FAIL nothing could be compared\n");
    const bool slower = j->total.verdicts[SLOWER] || j->total.slower_over_cases;
    return compared && !(fail_if_slower && slower) ? NL_EXIT_OK : NL_EXIT_FAILED;
}

/* Returns 0: no folder, 1: a folder of result files, 2: a folder of passes. */
static int kind_of(const char *path) {
    struct stat s;
    return stat(path, &s) != 0 || !S_ISDIR(s.st_mode) ? 0 : pool_is(path) ? 2 : 1;
}

int cmd_compare(int argc, char **argv) {
    job j = {.style.colour = colour_wanted(stdout)};
    double margin = 0.02;
    bool fail_if_slower = false;
    const option_spec specs[] = {{"margin", OPTION_NUMBER, &margin, 1e-9, 1 - 1e-9},
                                 {"csv", OPTION_FLAG, &j.style.csv, 0, 0},
                                 {"fail-if-slower", OPTION_FLAG, &fail_if_slower, 0, 0}};
    int first,
        code = options_read(argc, argv, help, specs, sizeof specs / sizeof *specs, false, &first);
    if (code != OPTIONS_DONE) return code;
    j.style.margin = log1p(margin);
    char **paths = argv + first;
    if (argc - first != 2 || kind_of(paths[0]) != kind_of(paths[1])) {
        static const char *const kinds[] = {"no folder", "a folder", "a folder of passes"};
        if (argc - first == 2)
            options_fail("%s is %s, and %s is %s", paths[0], kinds[kind_of(paths[0])], paths[1],
                         kinds[kind_of(paths[1])]);
        options_fail("name two result files, or two folders of result files or of passes");
        return options_see_help();
    }
    if (j.style.csv) sheet_heading();
    if (kind_of(paths[0]) == 1)
        compare_folders(&j, paths);
    else
        compare_files(&j, paths[1], (const char *const *)paths);
    free(j.differing);
    return finish(&j, fail_if_slower);
}
