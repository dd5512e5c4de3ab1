/* `normlab study NAME...`: runs studies and writes their points as CSV. A new study needs a file
 * in harness/studies/, a line in study.h and a line in the table below.
 * SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "studies/study.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const study *const studies[] = {&study_length,           &study_eps,
                                       &study_gradients,        &study_casting,
                                       &study_batch_statistics, &study_depth,
                                       &study_ablation,         &study_training,
                                       &study_ln_vs_rms,        &study_rmsnorm2019,
                                       &study_model_step,       &study_peak};
enum { STUDIES = sizeof studies / sizeof *studies };

/* Ctrl-C ends the program; the points so far are written. So no study handles signals. */
static void progress_or_exit(size_t done, size_t total, const char *what) {
    progress(done, total, what);
    if (!progress_interrupted()) return;
    blame_nobody();
    exit(NL_EXIT_INTERRUPTED);
}

static void note(const char *text) {
    fprintf(stderr, "%s\n", text);
}

static void list(FILE *out) {
    for (size_t i = 0; i < STUDIES; i++)
        fprintf(out, "  %-17s %s\n", studies[i]->name, studies[i]->question);
}

static void help(void) {
    printf("normlab study [options] NAME|experiments/NAME.txt...\n\n"
           "Runs experiments that no list of cases can express, and writes CSV to stdout:\n"
           "study,panel,series,x,y. `python plots/deck.py results NAME` draws it.\n\n"
           "  --out FILE.csv  write to FILE.csv; FILE.machine.txt: the machine's facts\n"
           "  --quick         fewer and smaller problems: takes seconds\n\n"
           "Studies:\n");
    list(stdout);
    printf("\nExamples:\n"
           "  normlab study length --quick\n"
           "  normlab study experiments/eps.txt --out results/eps.csv\n");
}

/* Returns the index of NAME, or of a path .../NAME.txt, in the table. STUDIES: not found. */
static size_t find(const char *text) {
    const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text;
    size_t length = strlen(name), i = 0;
    if (length > 4 && strcmp(name + length - 4, ".txt") == 0) length -= 4;
    while (i < STUDIES &&
           (strlen(studies[i]->name) != length || strncmp(studies[i]->name, name, length) != 0))
        i++;
    return i;
}

/* Returns -1 to continue, or the exit code. */
static int parse(int argc, char **argv, bool want[STUDIES], bool *quick, const char **path) {
    const option_spec specs[] = {{"out", OPTION_TEXT, path, 0, 0},
                                 {"quick", OPTION_FLAG, quick, 0, 0}};
    int first, code = options_read(argc, argv, NULL, specs, 2, false, &first);
    if (code == OPTIONS_HELP) return help(), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    bool ok = first < argc;
    if (!ok) fprintf(stderr, "normlab: which study");
    for (int i = first; ok && i < argc; i++) {
        size_t at = find(argv[i]);
        ok = at < STUDIES;
        if (!ok) fprintf(stderr, "normlab: which study is '%s'", argv[i]);
        if (ok && strchr(argv[i], '.') && access(argv[i], R_OK) != 0) {
            fprintf(stderr, "normlab: cannot read %s: %s\n", argv[i], strerror(errno));
            return NL_EXIT_USAGE;
        }
        if (ok) want[at] = true;
    }
    if (ok) return -1;
    fprintf(stderr, "? The studies:\n");
    list(stderr);
    return NL_EXIT_USAGE;
}

int cmd_study(int argc, char **argv) {
    bool want[STUDIES] = {false}, quick = false, enough = true;
    const char *path = NULL;
    int code = parse(argc, argv, want, &quick, &path);
    if (code >= 0) return code;
    interrupt_watch();
    study_out out = {.progress = progress_or_exit, .note = note};
    if (!report_file(&out.csv, path, quick)) return NL_EXIT_USAGE;
    if (!out.csv) out.csv = stdout;
    fprintf(out.csv, "study,panel,series,x,y\n");
    for (size_t i = 0; i < STUDIES && enough; i++) {
        if (!want[i]) continue;
        out.study = studies[i]->name;
        enough = studies[i]->run(&out, quick);
        progress_or_exit(1, 1, "");
        if (!enough) fprintf(stderr, "normlab: the study %s did not finish\n", out.study);
    }
    const bool written = report_written(out.csv, path);
    return enough && written ? NL_EXIT_OK : NL_EXIT_FAILED;
}
