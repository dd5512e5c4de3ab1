/* `normlab compare`: two result files, row by row. Each row's interval already holds the truth 95
 * times in 100, and the ratio's is taken from their far ends: wide, and sure to be wide enough.
 * SPDX-License-Identifier: MIT */
#include "results/facts.h"
#include "verbs/report.h"
#include "verbs/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "normlab compare [options] A.csv B.csv\n"
    "normlab compare [options] FOLDER_A FOLDER_B\n\n"
    "Is B FASTER or SLOWER than A, the SAME, or is that NOT RESOLVED? Rows are matched by case,\n"
    "implementation, ISA and threads; of two folders, the files of one name (*.rounds.csv are no\n"
    "results). FASTER and SLOWER: the whole interval of the ratio B/A lies beyond the band, the\n"
    "larger difference that either file's baseline showed against itself. SAME: interval and band\n"
    "lie within the margin. A row that cannot be compared is shown as refused, with the reason.\n\n"
    "  --margin M         what counts as the same: 0.02 is 2 % (0.02)\n"
    "  --across           compare shares of each machine's own limit (limit_pct), not times;\n"
    "                     done unasked when cpu, caches or architecture differ or are not known\n"
    "  --csv              for programs; ratio is of time, below 1 is faster\n"
    "  --fail-if-slower   exit code 1 if anything is SLOWER (refused rows do not count)\n\n"
    "The files were measured one after the other, so whatever changed in between (load, clock\n"
    "speed, where memory lay) looks like a change of the program. Measure A twice and compare\n"
    "the two to see how much that is; the implementations of one `normlab bench` take turns.\n\n"
    "Exit codes: 0 compared, 1 nothing could be compared, 2 bad usage or unreadable input.\n\n"
    "Examples:\n"
    "  normlab compare before.csv after.csv\n"
    "  normlab compare results/monday results/tuesday --margin 0.05 --fail-if-slower\n"
    "  normlab compare laptop.csv server.csv --csv > both.csv\n";

static const char sides[] = "AB";

typedef struct job {
    double margin; /* a log ratio */
    bool csv, across, colour;
    size_t verdicts[NOT_RESOLVED + 1], refused, unbanded, lone_files, unreadable;
    char *said; /* how the machines last differed: said once for a whole folder */
} job;

typedef struct pair {
    const char *name;
    results file[2];
    bool shares; /* shares of the limit are compared, not times */
    int width;   /* of the longest implementation's name */
    const char *heading;
} pair;

/* Says how the machines differ: once for a whole folder. */
static void say_unlike(job *j, const pair *p) {
    char *text = facts_unlike(p->file);
    if (text && !(j->said && strcmp(j->said, text) == 0))
        fprintf(stderr, "warning: A and B were not measured alike:\n%s", text);
    free(j->said);
    j->said = text;
}

/* Why two rows cannot be compared, into why; false: they can. */
static bool refusal(const result *a, const result *b, bool shares, char why[200]) {
    const result *both[] = {a, b};
    if (!a || !b) return snprintf(why, 200, "only in %c", a ? 'A' : 'B'), true;
    for (int i = 0; i < 2 && !*why; i++) {
        const result *r = both[i];
        if (strcmp(r->verdict, "ok") != 0 && strcmp(r->verdict, "demo") != 0)
            snprintf(why, 200, "the verdict of %c is %s", sides[i], r->verdict);
        else if (strstr(r->flag, "IMPOSSIBLE"))
            snprintf(why, 200, "%c is flagged %.60s", sides[i], r->flag);
        else if (isnan(r->ns))
            snprintf(why, 200, "%c was not timed", sides[i]);
        else if (isnan(r->ns_low) || isnan(r->ns_high))
            snprintf(why, 200, "%c has no interval: too few rounds", sides[i]);
        else if (shares && isnan(r->limit_pct))
            snprintf(why, 200, "%c has no limit_pct", sides[i]);
    }
    const struct {
        const char *name;
        double a, b;
    } sizes[] = {{"n", a->n, b->n},
                 {"c", a->c, b->c},
                 {"s", a->s, b->s},
                 {"bytes", a->bytes, b->bytes}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !*why; i++)
        if (sizes[i].a < sizes[i].b || sizes[i].a > sizes[i].b) /* not where one is unknown */
            snprintf(why, 200, "%s differs: %.0f in A, %.0f in B", sizes[i].name, sizes[i].a,
                     sizes[i].b);
    if (!*why && *a->data && *b->data && strcmp(a->data, b->data) != 0)
        snprintf(why, 200, "data differs: %.60s in A, %.60s in B", a->data, b->data);
    return *why;
}

/* In logarithms: the time, or in units of what the machine's limit takes. */
static estimate log_of(const result *r, bool shares) {
    double unit = shares ? log(r->limit_pct) + log(r->ns) - log(100) : 0;
    return (estimate){log(r->ns) - unit, log(r->ns_low) - unit, log(r->ns_high) - unit};
}

static const char *cell(const pair *p, const result *r, char text[32]) {
    double v = !r ? NAN : p->shares ? r->limit_pct : r->ns;
    if (isnan(v)) return "-";
    if (!p->shares) return human_ns(v, text);
    return snprintf(text, 32, "%.4g %%", v), text;
}

static void number(double v) {
    if (!isnan(v)) printf("%.6g", v);
    putchar(',');
}

static void print_csv(const job *j, const pair *p, const result *a, const result *b, estimate ratio,
                      double band, const char *word, const char *why) {
    const result *any = a ? a : b;
    csv_text(stdout, p->name);
    csv_text(stdout, any->spelling);
    csv_text(stdout, any->impl);
    csv_text(stdout, any->isa);
    printf("%d,%s,", any->threads, word);
    csv_text(stdout, why);
    printf("%s,", p->shares ? "limit_pct" : "ns");
    number(!a ? NAN : p->shares ? a->limit_pct : a->ns);
    number(!b ? NAN : p->shares ? b->limit_pct : b->ns);
    number(exp(ratio.median));
    number(exp(ratio.low));
    number(exp(ratio.high));
    number(expm1(band));
    printf("%.6g\n", expm1(j->margin));
}

static void print_row(pair *p, const result *a, const result *b, estimate ratio, double band,
                      const char *word, const char *why, const char *paint) {
    const result *any = a ? a : b;
    char texts[2][32], r[32] = "-", interval[64] = "-", noise[32] = "-";
    if (!p->heading || strcmp(any->spelling, p->heading) != 0)
        printf("\n%s\n  %-*s %-7s %7s %9s %9s %7s %-16s %8s  %s\n", any->spelling, p->width,
               "implementation", "isa", "threads", p->shares ? "A, limit" : "A",
               p->shares ? "B, limit" : "B", p->shares ? "A/B" : "B/A", "interval", "band", "B is");
    p->heading = any->spelling;
    if (!isnan(ratio.median)) {
        snprintf(r, sizeof r, "%.3f", exp(ratio.median));
        snprintf(interval, sizeof interval, "[%.3f, %.3f]", exp(ratio.low), exp(ratio.high));
    }
    if (!isnan(band)) snprintf(noise, sizeof noise, "%.2f %%", 100 * expm1(band));
    printf("  %-*s %-7s %7d %9s %9s %7s %-16s %8s  %s%s%s%s%s\n", p->width, any->impl, any->isa,
           any->threads, cell(p, a, texts[0]), cell(p, b, texts[1]), r, interval, noise, paint,
           word, *paint ? "\033[0m" : "", *why ? ": " : "", why);
}

static void compare_row(job *j, pair *p, const result *a, const result *b) {
    static const char *const paint[] = {"\033[32m", "\033[31m", "", "\033[33m", "\033[2m"};
    char why[200] = "";
    const char *word = "REFUSED";
    estimate ratio = {NAN, NAN, NAN};
    double band = NAN;
    int colour = NOT_RESOLVED + 1;
    if (refusal(a, b, p->shares, why)) {
        j->refused++;
    } else {
        estimate x = log_of(a, p->shares), y = log_of(b, p->shares);
        ratio = (estimate){y.median - x.median, y.low - x.high, y.high - x.low};
        bool known = !isnan(a->aa_band) && !isnan(b->aa_band);
        band = log1p(fmax(a->aa_band, b->aa_band));
        if (!known) band = fmax(band, j->margin), j->unbanded++;
        comparison v = stats_verdict(ratio, band, j->margin);
        word = comparison_name(v);
        j->verdicts[v]++;
        colour = (int)v;
    }
    if (j->csv)
        print_csv(j, p, a, b, ratio, band, word, why);
    else
        print_row(p, a, b, ratio, band, word, why, j->colour ? paint[colour] : "");
}

static void compare_rows(job *j, pair *p, const char *const paths[2]) {
    char why[200] = "--across was asked for";
    p->shares = !facts_one_machine(p->file, why) || j->across;
    p->width = (int)strlen("implementation");
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < p->file[side].count; i++) {
            int length = (int)strlen(p->file[side].rows[i].impl);
            if (length > p->width) p->width = length < 60 ? length : 60;
        }
    if (!j->csv) printf("A  %s\nB  %s\n", paths[0], paths[1]);
    if (p->shares)
        fprintf(j->csv ? stderr : stdout,
                "%s: compared are not times but shares of each\nmachine's own limit; FASTER is "
                "nearer to it.\n",
                why);
    for (size_t i = 0; i < p->file[0].count; i++) {
        const result *a = &p->file[0].rows[i];
        compare_row(j, p, a, results_find(&p->file[1], a));
    }
    for (size_t i = 0; i < p->file[1].count; i++) {
        const result *b = &p->file[1].rows[i];
        if (!results_find(&p->file[0], b)) compare_row(j, p, NULL, b);
    }
    if (!j->csv) putchar('\n');
}

static void compare_files(job *j, const char *name, const char *const paths[2]) {
    char error[700];
    pair p = {.name = name};
    bool ok[2];
    for (int side = 0; side < 2; side++) {
        ok[side] = results_read(paths[side], &p.file[side], error, sizeof error);
        if (!ok[side])
            fprintf(stderr, "normlab compare: %s\n", error), j->unreadable++;
        else if (*p.file[side].warning)
            fprintf(stderr, "warning: %s\n", p.file[side].warning);
    }
    if (ok[0] && ok[1]) {
        say_unlike(j, &p);
        compare_rows(j, &p, paths);
    }
    for (int side = 0; side < 2; side++)
        if (ok[side]) results_free(&p.file[side]);
}

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}

static int is_results(const struct dirent *e) {
    return ends_with(e->d_name, ".csv") && !ends_with(e->d_name, ".rounds.csv");
}

static char *join(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Both lists are in alphabetical order, so they are walked together. */
static void compare_folders(job *j, char **folders) {
    struct dirent **names[2] = {NULL, NULL};
    int count[2], at[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        count[side] = scandir(folders[side], &names[side], is_results, alphasort);
        if (count[side] >= 0) continue;
        fprintf(stderr, "normlab compare: %s: %s\n", folders[side], strerror(errno));
        j->unreadable++;
    }
    bool readable = count[0] >= 0 && count[1] >= 0;
    while (readable && (at[0] < count[0] || at[1] < count[1])) {
        int order = at[0] == count[0] ? 1 : at[1] == count[1] ? -1 : 0;
        if (!order) order = strcmp(names[0][at[0]]->d_name, names[1][at[1]]->d_name);
        if (order == 0) {
            const char *name = names[0][at[0]]->d_name;
            char *paths[2] = {join(folders[0], name), join(folders[1], name)};
            if (paths[0] && paths[1])
                compare_files(j, name, (const char *const *)paths);
            else
                fprintf(stderr, "normlab compare: no memory for %s\n", name), j->unreadable++;
            free(paths[0]), free(paths[1]);
        } else {
            int side = order > 0;
            fprintf(stderr, "only in %c: %s/%s\n", sides[side], folders[side],
                    names[side][at[side]]->d_name);
            j->lone_files++;
        }
        at[0] += order <= 0, at[1] += order >= 0;
    }
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < count[side]; i++) free(names[side][i]);
        free(names[side]);
    }
}

static int finish(const job *j, bool fail_if_slower) {
    size_t compared = 0;
    for (int v = FASTER; v <= NOT_RESOLVED; v++) compared += j->verdicts[v];
    if (j->unbanded)
        fprintf(stderr,
                "%zu rows lack the band of a baseline against itself: there only what is "
                "beyond the margin counts\n",
                j->unbanded);
    if (j->verdicts[FASTER] || j->verdicts[SLOWER])
        fprintf(stderr, "A and B did not take turns: measure A twice and compare the two, to see "
                        "what time alone changes\n");
    fprintf(stderr, "%zu compared: ", compared);
    for (int v = FASTER; v <= NOT_RESOLVED; v++)
        fprintf(stderr, "%s%zu %s", v ? ", " : "", j->verdicts[v], comparison_name((comparison)v));
    fprintf(stderr, "; %zu refused", j->refused);
    if (j->lone_files) fprintf(stderr, "; %zu files in one folder only", j->lone_files);
    fputc('\n', stderr);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "normlab compare: writing the results failed: %s\n", strerror(errno));
        return NL_EXIT_FAILED;
    }
    if (j->unreadable) return NL_EXIT_USAGE;
    if (compared == 0) fprintf(stderr, "FAIL nothing could be compared\n");
    return compared && !(fail_if_slower && j->verdicts[SLOWER]) ? NL_EXIT_OK : NL_EXIT_FAILED;
}

static bool is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

int verb_compare(int argc, char **argv) {
    static const struct option known[] = {{"margin", required_argument, NULL, 'm'},
                                          {"across", no_argument, NULL, 'a'},
                                          {"csv", no_argument, NULL, 'c'},
                                          {"fail-if-slower", no_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    job j = {.colour = colour_wanted(stdout)};
    double margin = 0.02;
    bool fail_if_slower = false;
    char *end;
    optind = 1;
    for (int o; (o = getopt_long(argc, argv, "h", known, NULL)) != -1;) {
        switch (o) {
        case 'm':
            margin = strtod(optarg, &end);
            if (!*end && margin > 0 && margin < 1) break;
            fprintf(stderr, "normlab compare: --margin '%s' should be between 0 and 1, as 0.02\n",
                    optarg);
            return NL_EXIT_USAGE;
        case 'a': j.across = true; break;
        case 'c': j.csv = true; break;
        case 'f': fail_if_slower = true; break;
        case 'h': fputs(help, stdout); return NL_EXIT_OK;
        default: fputs("See `normlab compare --help`.\n", stderr); return NL_EXIT_USAGE;
        }
    }
    j.margin = log1p(margin);
    char **paths = argv + optind;
    if (argc - optind != 2 || is_folder(paths[0]) != is_folder(paths[1])) {
        if (argc - optind == 2)
            fprintf(stderr, "normlab compare: one of %s and %s is a folder, the other is not\n",
                    paths[0], paths[1]);
        fprintf(stderr, "normlab compare: name two result files, or two folders of them. See "
                        "`normlab compare --help`.\n");
        return NL_EXIT_USAGE;
    }
    if (j.csv)
        puts("file,case,impl,isa,threads,verdict,why,measure,a,b,ratio,ratio_low,ratio_high,band,"
             "margin");
    if (is_folder(paths[0]))
        compare_folders(&j, paths);
    else
        compare_files(&j, paths[1], (const char *const *)paths);
    free(j.said);
    return finish(&j, fail_if_slower);
}
