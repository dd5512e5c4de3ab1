/* `normlab grade ASSIGNMENT FILE`: points for a kernel. Correctness first, by category; what is
 * right is then timed. SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "base/random.h"
#include "base/replace.h"
#include "cases/names.h"
#include "registry.h"
#include "timing/bench.h"
#include "verbs/case_options.h"
#include "verbs/hints.h"
#include "verbs/options.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"
#include "verify/check.h"
#include "workbench/compile.h"
#include "workbench/lab.h"
#include "workbench/load.h"
#include "workbench/marks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "normlab grade [options] ASSIGNMENT FILE.c\n\n"
    "Grades a kernel: compiles it as `normlab try` does, checks the categories of the assignment,\n"
    "each right on all its cases or not, and, if all are right, gives points for speed and error\n"
    "on fixed scales. FILE.so, compiled already, will do as well. ASSIGNMENT is a file, a folder\n"
    "with an assignment.txt, or a lab by name or number (`normlab lab` lists them).\n"
    "docs/grading.md describes the assignment and how to set up an autograder.\n\n"
    "  --seed N           other random data, the same for everybody with this number (0)\n"
    "  --threads N        threads for those that use them (1)\n"
    "  --seconds S        of timing per implementation and case (0.2)\n"
    "  --gradescope FILE  write Gradescope's results.json\n"
    "  --junit FILE       write JUnit XML\n"
    "  --card FILE.svg    write a card; one that is there gives the points before\n\n"
    "Exit codes: 0 every category is right, 1 not, or it does not compile, 2 bad usage or a bad\n"
    "assignment.\n\n"
    "Examples:\n"
    "  normlab grade 1 1-first-rung.c\n"
    "  normlab grade examples/grading/rmsnorm.txt mine.c\n"
    "  normlab grade --seed 4711 --gradescope /autograder/results/results.json rmsnorm.txt "
    "mine.c\n";

typedef struct job {
    assignment work;
    marks marks;
    const nl_impl *impl;
    int threads;
    double seconds;
    const part *part; /* of the case that is checked or timed */
    verdict failed;   /* the first failure of a category */
    row mine, from, to;
} job;

static mark *mark_part(job *j, const part *p) {
    mark *k = &j->marks.all[j->marks.count++];
    *k = (mark){.most = p->points};
    snprintf(k->name, sizeof k->name, "%s", p->name);
    return k;
}

static bool is_graded(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    return impl == j->impl && nl_accepts(impl, &c->problem);
}

static void judged(void *context, const nl_case *c, const nl_impl *impl, const verdict *v) {
    job *j = context;
    (void)c, (void)impl;
    if (v->outcome != OUTCOME_OK) j->failed = *v;
}

/* The case, what was wrong, and a hint. */
static void describe_failure(const job *j, const nl_case *c, mark *k) {
    const verdict *v = &j->failed;
    const row line = {.c = c, .impl = j->impl->name, .isa = j->impl->isa, .v = *v};
    char *hint = NULL;
    size_t size;
    FILE *f = v->outcome == OUTCOME_FAIL ? open_memstream(&hint, &size) : NULL;
    if (f)
        hints_note(j->impl, &line, c->threads ? c->threads : j->threads), hints_print(f), fclose(f);
    snprintf(k->text, sizeof k->text, "%s\n%s%s", c->text,
             v->outcome == OUTCOME_DEMO ? "its method promises nothing here (.method, .range_safe)"
                                        : v->why,
             hint ? hint : "");
    free(hint);
}

/* False: bad input, after a message. */
static bool grade_category(job *j, const part *p) {
    mark *k = mark_part(j, p);
    const check_settings settings = {.threads = j->threads,
                                     .context = j,
                                     .selects = is_graded,
                                     .judged = judged};
    for (size_t i = 0; i < p->cases.count && !interrupted(); i++) {
        const nl_case *c = &p->cases.items[i];
        char error[700];
        progress(i, p->cases.count, c->text);
        j->failed = (verdict){.outcome = OUTCOME_OK};
        if (!nl_accepts(j->impl, &c->problem)) {
            snprintf(k->text, sizeof k->text,
                     "%s\nit does not take that: see its .ops, .passes, .dtypes and .c_max",
                     c->text);
            return progress(1, 1, ""), true;
        }
        check_settings now = settings;
        if (c->threads) now.threads = c->threads;
        if (!check_case(c, &now, error, sizeof error))
            return progress(1, 1, ""), options_fail("%s: %s", c->text, error);
        if (j->failed.outcome != OUTCOME_OK)
            return progress(1, 1, ""), describe_failure(j, c, k), true;
    }
    progress(1, 1, "");
    k->right = true, k->points = p->points;
    snprintf(k->text, sizeof k->text, "right on %zu case%s", p->cases.count,
             p->cases.count == 1 ? "" : "s");
    return true;
}

static bool races(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    return impl == j->impl ||
           ((impl == impl_widest(j->part->from_rung) || impl == impl_widest(j->part->to_rung)) &&
            nl_accepts(impl, &c->problem));
}

static void timed(void *context, const row *line) {
    job *j = context;
    if (strcmp(line->impl, j->impl->name) == 0 && strcmp(line->isa, j->impl->isa) == 0)
        j->mine = *line; /* whose name may be that of a rung of another instruction set */
    else if (strcmp(line->impl, j->part->from_rung) == 0)
        j->from = *line;
    else
        j->to = *line;
}

/* How far from one end to the other, by the logarithm. */
static double share(double value, double from, double to) {
    return fmin(1, fmax(0, log(from / value) / log(from / to)));
}

static bool grade_speed(job *j, const part *p) {
    const nl_case *c = p->cases.items;
    const bench_settings settings = {.seconds = j->seconds,
                                     .precision = 0.01,
                                     .margin = 0.02,
                                     .processes = 1,
                                     .threads = j->threads,
                                     .context = j,
                                     .selects = races,
                                     .row = timed};
    mark *k = mark_part(j, p);
    char error[700];
    const bool limit = strcmp(p->to_rung, "limit") == 0;
    j->part = p, j->mine = j->from = j->to = (row){0};
    if (!bench_case(c, &settings, error, sizeof error))
        return options_fail("%s: %s", c->text, error);
    const double from = j->from.t.ns.median, mine = j->mine.t.ns.median;
    const double to = limit ? (double)case_bytes(c) / j->mine.t.limit_gbps : j->to.t.ns.median;
    if (j->mine.timed && !(j->from.timed && to > 0))
        return interrupted() || options_fail("%s: %s and %s cannot be timed on it", c->text,
                                             p->from_rung, p->to_rung);
    if (!j->mine.timed) {
        snprintf(k->text, sizeof k->text, "%s\n%s", c->text, j->mine.v.why);
    } else if (j->mine.t.impossible) {
        snprintf(
            k->text, sizeof k->text,
            "%s\nfaster than the same bytes can be copied: does a repeated call leave work out?",
            c->text);
    } else {
        const bool scale = to < from; /* else the machine knows no difference: all or nothing */
        k->points = p->points * (scale ? share(mine, from, to) : mine <= 1.05 * from);
        k->right = true;
        snprintf(k->text, sizeof k->text, "%s\n%.2f times as fast as %s; %s%s%s is at %.2f",
                 c->text, from / mine, p->from_rung, p->to_rung, limit ? "" : "@",
                 limit ? "" : impl_widest(p->to_rung)->isa, from / to);
    }
    return true;
}

static bool grade_error(job *j, const part *p) {
    const nl_case *c = p->cases.items;
    mark *k = mark_part(j, p);
    nl_data data;
    answer want;
    char error[700];
    if (!data_make(c, &data, error, sizeof error)) return options_fail("%s", error);
    if (!answer_make(c, &data, &want)) return data_free(&data), options_fail("out of memory");
    const verdict v = verify(c, &data, &want, j->impl, PLACE_END, j->threads);
    answer_free(&want), data_free(&data);
    if (v.outcome == OUTCOME_FAIL) {
        snprintf(k->text, sizeof k->text, "%s\n%s", c->text, v.why);
        return true;
    }
    k->points = p->points * (v.error_u > 0 ? share(v.error_u, p->from, p->to) : 1);
    k->right = true;
    snprintf(k->text, sizeof k->text, "%s\n%.3g units of error", c->text, v.error_u);
    return true;
}

/* The points of what is not run: speed and error of a kernel that is wrong, or everything. */
static void grade_nothing(job *j, const part *p, const char *why) {
    mark *k = mark_part(j, p);
    snprintf(k->text, sizeof k->text, "%.*s", (int)sizeof k->text - 1, why);
}

static bool grade_all(job *j) {
    bool right = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < j->work.count && !interrupted(); i++) {
            const part *p = &j->work.parts[i];
            if ((p->kind == PART_CATEGORY) != (pass == 0)) continue;
            if (pass && !right)
                grade_nothing(j, p, "not measured: first it has to be right");
            else if (!(p->kind == PART_CATEGORY ? grade_category
                       : p->kind == PART_SPEED  ? grade_speed
                                                : grade_error)(j, p))
                return false;
            right = right && (pass || j->marks.all[j->marks.count - 1].right);
        }
    return true;
}

static char *read_all(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, 1 << 20) : NULL;
    if (text) text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
    if (f) fclose(f);
    return text;
}

/* Compiles and loads the file. False: why says what is wrong with it. */
static bool get_kernel(job *j, const char *file, char *why, size_t size) {
    const size_t length = strlen(file), before = nl_impl_count();
    char *source = length > 2 && strcmp(file + length - 2, ".c") == 0 ? read_all(file) : NULL;
    const char *word = source ? assignment_forbids(&j->work, source) : NULL;
    compiled c = {.isa = "c"};
    if (word) snprintf(why, size, "the assignment forbids '%s'", word);
    *why = word ? *why : '\0';
    bool ok = !word && (!source || compile_kernel(file, &c, why, size));
    if (!ok && !*why) snprintf(why, size, "it does not compile");
    if (ok) ok = load_kernels(source ? c.library : file, file, why, size);
    if (source) compile_remove(&c);
    free(source);
    if (ok) j->impl = nl_impl_at(before);
    if (ok && j->work.asks_method && j->impl->method != j->work.method)
        ok = false, snprintf(why, size,
                             "its .method is not %s, which the assignment asks for: the bound on "
                             "its errors follows from it",
                             method_at(j->work.method));
    return ok;
}

static void print_page(const marks *m) {
    const bool colour = colour_wanted(stdout);
    printf("%s: %s\n", m->title, m->file);
    for (size_t i = 0; i < m->count; i++) {
        const mark *k = &m->all[i];
        const char *paint = !colour ? "" : k->right ? "\033[32m" : "\033[31m";
        printf("  %s%-5s%s %6.4g of %-6.4g %s\n", paint, k->right ? "ok" : "FAIL",
               colour ? "\033[0m" : "", k->points, k->most, k->name);
        for (const char *line = k->text; *line;) {
            const size_t n = strcspn(line, "\n");
            printf("%23s%.*s\n", "", (int)n, line);
            line += n + (line[n] == '\n');
        }
    }
    printf("%.4g of %.4g points\n", marks_points(m), marks_most(m));
}

enum { GRADESCOPE, JUNIT, CARD, FILES };

static bool write_file(const marks *m, int kind, const char *path) {
    if (!path) return true;
    char *before = kind == CARD ? read_all(path) : NULL;
    replacement r;
    bool ok = replace_begin(&r, path);
    if (ok && kind == GRADESCOPE) marks_gradescope(m, r.file);
    if (ok && kind == JUNIT) marks_junit(m, r.file);
    if (ok && kind == CARD) marks_card(m, before, r.file);
    ok = ok && replace_end(&r, true);
    free(before);
    if (!ok) fprintf(stderr, "normlab: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

int verb_grade(int argc, char **argv) {
    job j = {.threads = 1, .seconds = 0.2};
    const char *files[FILES] = {NULL};
    char error[9000];
    int seed = 0;
    const option_spec specs[] = {{"seed", OPTION_COUNT, &seed, 0, 2147483647},
                                 {"threads", OPTION_COUNT, &j.threads, 1, 4096},
                                 {"seconds", OPTION_NUMBER, &j.seconds, 1e-6, 1e6},
                                 {"gradescope", OPTION_TEXT, &files[GRADESCOPE], 0, 0},
                                 {"junit", OPTION_TEXT, &files[JUNIT], 0, 0},
                                 {"card", OPTION_TEXT, &files[CARD], 0, 0}};
    int first, code = options_read(argc, argv, specs, 6, true, &first);
    if (code == OPTIONS_HELP) return fputs(help, stdout), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    if (argc - first != 2)
        return options_fail("which ASSIGNMENT (or lab) and which FILE.c?"), options_see_help();
    if (!options_can_read(argv[first + 1])) return NL_EXIT_USAGE;
    if (!lab_assignment(argv[first], &j.work, error, sizeof error))
        return options_fail("%s", error), NL_EXIT_USAGE;
    random_seed((uint64_t)seed);
    interrupt_watch(); /* so that what a compiler leaves is removed */
    j.marks = (marks){.title = j.work.title, .file = argv[first + 1]};
    bool ok = true;
    if (get_kernel(&j, argv[first + 1], error, sizeof error))
        ok = grade_all(&j);
    else
        for (size_t i = 0; i < j.work.count; i++) grade_nothing(&j, &j.work.parts[i], error);
    if (ok && !interrupted()) {
        print_page(&j.marks);
        for (int i = 0; i < FILES; i++) ok = write_file(&j.marks, i, files[i]) && ok;
    }
    bool right = true;
    for (size_t i = 0; i < j.marks.count; i++) right = right && j.marks.all[i].right;
    assignment_free(&j.work);
    if (interrupted()) return NL_EXIT_INTERRUPTED;
    return !ok ? NL_EXIT_USAGE : right ? NL_EXIT_OK : NL_EXIT_FAILED;
}
