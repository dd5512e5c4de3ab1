/* `normlab grade ASSIGNMENT FILE`: points for a kernel. First checks correctness, by category; then
 * times the kernel if it is right. SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/replace.h"
#include "cases/case.h"
#include "cli/counting.h"
#include "cli/marking.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "verify/isolate.h"
#include "workbench/fence.h"
#include "workbench/lab.h"
#include "workbench/load.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "normlab grade [options] ASSIGNMENT FILE.c\n\n"
    "Grades a kernel: compiles the file as `normlab try` does and checks the categories of the\n"
    "assignment. A category is right if all its cases are. If all categories are right, gives\n"
    "points for error, count and speed on fixed scales. A FILE.so works too. ASSIGNMENT is a\n"
    "file, a folder with an assignment.txt, or a lab's name or number (`normlab lab` lists the\n"
    "labs). docs/grading.md describes the assignment and how to set up an autograder.\n\n"
    "  --seed N           other random data, the same for the same N (0)\n"
    "  --threads N        threads for kernels that use them (1)\n"
    "  --seconds S        time per implementation and case (0.2); 0: no points for speed\n"
    "  --gradescope FILE  write Gradescope's results.json\n"
    "  --junit FILE       write JUnit XML\n\n"
    "Exit codes: 0 every category is right, 1 a category is wrong or the file does not compile,\n"
    "2 bad usage or a bad assignment.\n\n"
    "Examples:\n"
    "  normlab grade 1 1-first-rung.c\n"
    "  normlab grade examples/grading/rmsnorm.txt mine.c\n"
    "  normlab grade --seed 4711 --gradescope /autograder/results/results.json rmsnorm.txt "
    "mine.c\n";

/* If a hint was printed before, prints a note instead of the hint. */
static void print_mark(const mark *k) {
    static char causes[4000];
    const bool colour = colour_wanted(stdout);
    const char *paint = !colour ? "" : k->right ? "\033[32m" : "\033[31m";
    const char *hint = strstr(k->text, "\nHINT "),
               *cause = hint ? strstr(hint, "cause: ") : k->text;
    const bool again = !k->right && cause && strstr(causes, cause);
    if (cause && !again) strncat(causes, cause, sizeof causes - strlen(causes) - 1);
    printf("  %s%-5s%s %6.4g of %-6.4g %s\n", paint, k->right ? "ok" : "FAIL",
           colour ? "\033[0m" : "", k->points, k->most, k->name);
    for (const char *line = k->text; *line && !(again && (!hint || line > hint));) {
        const size_t n = strcspn(line, "\n");
        char one[1000];
        snprintf(one, sizeof one, "%.*s", (int)n, line);
        print_folded(stdout, 23, one);
        line += n + (line[n] == '\n');
    }
    if (again) print_folded(stdout, 23, hint ? "the cause: as above" : "as above");
    fflush(stdout);
}

/* Gives no points. The first part gets the whole reason, the others the reason's first line. */
static void nothing_at_all(grading *j, const char *why) {
    char first[200];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(why, "\n"), why);
    for (size_t i = 0; i < j->work->count; i++)
        grade_nothing(j, &j->work->parts[i], i ? first : why), print_mark(&j->out->all[i]);
}

/* Sets j->impl to the library's one kernel, which never runs in this process. */
static bool get_kernel(grading *j, const char *library, char *why, size_t size) {
    j->impl = load_distant(library, why, size);
    if (!j->impl || !j->work->asks_method || j->impl->method == j->work->method) return j->impl;
    snprintf(why, size,
             "its .method is not %s, which the assignment requires: the method sets the "
             "bound on its errors",
             method_at(j->work->method));
    return false;
}

static bool asks_count(const assignment *a) {
    for (size_t i = 0; i < a->count; i++)
        if (a->parts[i].kind == PART_COUNT) return true;
    return false;
}

/* Compiles and grades the file. False: bad input, after a message. */
static bool grade_file(grading *j) {
    const char *file = j->out->file;
    const bool source = ends_with(file, ".c");
    char why[9000] = "";
    compiled c = {.isa = "c"};
    progress(0, 1, "compiling");
    bool ok = !source || fence_kernel(file, j->work, &c, why, sizeof why);
    progress(1, 1, "");
    if (!ok && !*why) snprintf(why, sizeof why, "it does not compile");
    ok = ok &&
         (!source || symbols_allowed(c.library, word_list_has(&j->work->forbidden, "double"), why,
                                     sizeof why)) &&
         get_kernel(j, source ? c.library : file, why, sizeof why);
    compiled second = {.widest = counting_isa()};
    if (ok && source && asks_count(j->work)) {
        const bool same = strcmp(c.isa, "c") == 0 || strcmp(c.isa, second.widest) == 0;
        if (same || fence_kernel(file, j->work, &second, why, sizeof why))
            j->counted = same ? c.library : second.library,
            j->counted_isa = same ? c.isa : second.isa;
    }
    const bool good_input = !ok || grade_all(j);
    if (!ok) nothing_at_all(j, why);
    isolate_end();
    orphans_end();
    if (source) compile_remove(&c);
    compile_remove(&second);
    return good_input;
}

enum { GRADESCOPE, JUNIT, FILES };

static bool write_file(const marks *m, int kind, const char *path) {
    if (!path) return true;
    replacement r;
    bool ok = replace_begin(&r, path);
    if (ok && kind == GRADESCOPE) marks_gradescope(m, r.file);
    if (ok && kind == JUNIT) marks_junit(m, r.file);
    ok = ok && replace_end(&r, true);
    if (!ok) fprintf(stderr, "normlab: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

int cmd_grade(int argc, char **argv) {
    static marks m;
    assignment work;
    grading j = {.work = &work, .out = &m, .threads = 1, .seconds = 0.2, .graded = print_mark};
    const char *files[FILES] = {NULL};
    char error[9000];
    const option_spec specs[] = {{"seed", OPTION_COUNT, &j.seed, 0, 2147483647},
                                 {"threads", OPTION_COUNT, &j.threads, 1, 4096},
                                 {"seconds", OPTION_NUMBER, &j.seconds, 0, 1e6},
                                 {"gradescope", OPTION_TEXT, &files[GRADESCOPE], 0, 0},
                                 {"junit", OPTION_TEXT, &files[JUNIT], 0, 0}};
    int first, code = options_read(argc, argv, help, specs, 5, true, &first);
    if (code != OPTIONS_DONE) return code;
    if (argc - first != 2)
        return options_fail("name an ASSIGNMENT (or a lab) and a FILE.c"), options_see_help();
    if (!options_kernel(argv[first + 1])) return NL_EXIT_USAGE;
    if (!lab_assignment(argv[first], &work, error, sizeof error))
        return options_fail("%s", error), NL_EXIT_USAGE;
    random_seed((uint64_t)j.seed);
    interrupt_watch(); /* Ctrl-C must remove the compiler's temporary files */
    orphans_adopt();
    m.title = work.title, m.file = argv[first + 1];
    printf("%s: %s\n", m.title, m.file), fflush(stdout);
    bool ok = grade_file(&j);
    if (ok && !interrupted()) {
        printf("%.4g of %.4g points\n", marks_points(&m), marks_most(&m));
        for (int i = 0; i < FILES; i++) ok = write_file(&m, i, files[i]) && ok;
    }
    bool right = true;
    for (size_t i = 0; i < m.count; i++) right = right && m.all[i].right;
    assignment_free(&work);
    if (interrupted()) return NL_EXIT_INTERRUPTED;
    return !ok ? NL_EXIT_USAGE : right ? NL_EXIT_OK : NL_EXIT_FAILED;
}
