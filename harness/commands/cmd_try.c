/* `normlab try FILE`: gives a verdict on a kernel file within seconds.
 * SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "base/interrupt.h"
#include "cli/attempt.h"
#include "cli/counting.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "layer.h"
#include "platform/system.h"
#include "workbench/compile.h"
#include "workbench/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "normlab try [options] FILE.c [CASE...]\n\n"
    "Compiles one kernel file with the flags of this build and verifies the kernel on a short\n"
    "suite, from the simplest case to the hardest. Stops after a few failures and shows the\n"
    "simplest one. A right kernel is timed beside the naive rung and the choice of nl_best().\n"
    "Nothing else is compiled, and nothing is installed. With valgrind, the kernel's instructions\n"
    "are counted too (`normlab help count`). CASEs are verified instead of the suite, without\n"
    "timing. A compiled FILE.so works too.\n\n"
    "  --all         after the short suite, the whole suite of `normlab check`\n"
    "  --threads N   threads for kernels that use them (1; three in some cases of the suite)\n"
    "  --seconds S   time per implementation and case (0.05)\n"
    "  --watch       try again whenever the file changes, until Ctrl-C\n\n"
    "The compiler is CC of the environment, or the compiler of this program. A file\n"
    "that includes vec/vec.h or another header of optimized/ is compiled for the widest "
    "instruction\n"
    "set that runs here (NL_ISA=avx2 in the environment: at most that).\n"
    "Exit codes: 0 right, 1 wrong or not compiled, 2 bad usage.\n\n"
    "Examples:\n"
    "  normlab try rmsnorm/four_sums.c\n"
    "  normlab try mine.c --watch\n"
    "  normlab try mine.c rmsnorm/forward/f32/3x7/normal/residual\n"
    "  CC=clang normlab try mine.c\n";

/* Compiles and loads the file. False: after a message. */
static bool get_kernel(const char *file, double *seconds, char *compiler, size_t size) {
    char error[9000];
    compiled c = {.isa = "c"};
    if (!ends_with(file, ".c")) {
        bool ok = load_kernels(file, file, error, sizeof error);
        return ok || options_fail("%s: %s", file, error);
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    progress(0, 1, "compiling");
    bool ok = compile_and_load(file, &c, error, sizeof error);
    progress(1, 1, "");
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    snprintf(compiler, size, "%s", c.compiler);
    if (!ok && !interrupted()) options_fail("%s: %s", file, error);
    return ok;
}

/* Counts the instructions of the kernel and of the naive rung in the kernel's first pass, on eight
 * rows or samples. */
static void count(const char *file, const nl_impl *m) {
    const nl_op op = (nl_op)__builtin_ctz(m->ops);
    const size_t c = m->c_max && m->c_max < 1024 ? m->c_max : 1024;
    counted mine, plain;
    char text[CASE_TEXT], error[9000] = "";
    case_list cases = {0};
    snprintf(text, sizeof text,
             nl_layers[op].channels_first ? "%s/%s/%s/8x64x%zu/normal" : "%s/%s/%s/8x%zu/normal",
             nl_op_name(op), nl_pass_name((nl_pass)__builtin_ctz(m->passes)),
             nl_dtype_name((nl_dtype)__builtin_ctz(m->dtypes)), c);
    if (!cases_add(&cases, text, error, sizeof error)) return;
    const nl_impl *naive = attempt_naive(&cases.items->problem);
    if (naive && counting_file(file, cases.items, &mine, error, sizeof error) &&
        counting_rung(naive->name, cases.items, &plain, error, sizeof error))
        printf("counted on 8 rows or samples: %.0f instructions, %s %.0f (`normlab help count`)\n",
               mine.instructions, naive->name, plain.instructions);
    else if (*error)
        printf("not counted: %s\n", error);
    cases_free(&cases);
}

static int try_once(const char *file, const attempt_options *o) {
    const size_t before = nl_impl_count();
    interrupt_watch(); /* Ctrl-C must remove the compiler's temporary files */
    char compiler[200] = "";
    double seconds = 0;
    const bool got = get_kernel(file, &seconds, compiler, sizeof compiler);
    int code = got ? NL_EXIT_OK : NL_EXIT_FAILED;
    if (got && *compiler) printf("%s: compiled by %s in %.2f s\n", file, compiler, seconds);
    for (size_t i = before; i < nl_impl_count() && code == NL_EXIT_OK; i++)
        code = attempt(nl_impl_at(i), o);
    if (code == NL_EXIT_OK && !o->cases.count && *compiler && counting_works() && !interrupted())
        count(file, nl_impl_at(before));
    if (code == NL_EXIT_OK || !interrupted()) return code;
    options_fail("interrupted");
    return NL_EXIT_INTERRUPTED;
}

/* The file's size and time of last change; zeros if there is no file. */
static struct stat state_of(const char *file) {
    struct stat now;
    return stat(file, &now) == 0 ? now : (struct stat){0};
}

static bool same(const struct stat *a, const struct stat *b) {
    const struct timespec one = modified_at(a), two = modified_at(b);
    return one.tv_sec == two.tv_sec && one.tv_nsec == two.tv_nsec && a->st_size == b->st_size;
}

/* Tries the file at each change. Each try runs in a child process, since a loaded library cannot be
 * replaced. */
static int watch(const char *file, const attempt_options *o) {
    interrupt_watch();
    while (!interrupted()) {
        const struct timespec nap = {0, 200000000};
        struct stat before = state_of(file), now = before;
        if (isatty(STDOUT_FILENO)) printf("\033[H\033[2J");
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int code = try_once(file, o);
            fflush(stdout);
            _exit(code);
        }
        while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
        if (interrupted()) break;
        fprintf(stderr, "waiting for %s to change; Ctrl-C ends\n", file);
        while (!interrupted() && (!now.st_mtime || same(&before, &now)))
            nanosleep(&nap, NULL), now = state_of(file);
    }
    return NL_EXIT_INTERRUPTED;
}

int cmd_try(int argc, char **argv) {
    attempt_options o = {.threads = 1, .seconds = 0.05};
    bool watching = false;
    const option_spec specs[] = {{"all", OPTION_FLAG, &o.all, 0, 0},
                                 {"watch", OPTION_FLAG, &watching, 0, 0},
                                 {"threads", OPTION_COUNT, &o.threads, 1, 4096},
                                 {"seconds", OPTION_NUMBER, &o.seconds, 1e-6, 1e6}};
    int first, code = options_read(argc, argv, help, specs, 4, false, &first);
    if (code != OPTIONS_DONE) return code;
    if (!options_kernel(first < argc ? argv[first] : NULL)) return options_see_help();
    const char *file = argv[first];
    char error[700];
    for (int i = first + 1; i < argc; i++)
        if (!cases_add(&o.cases, argv[i], error, sizeof error))
            return options_fail("%s", error), cases_free(&o.cases), NL_EXIT_USAGE;
    code = watching ? watch(file, &o) : try_once(file, &o);
    cases_free(&o.cases);
    return code;
}
