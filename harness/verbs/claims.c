/* `normlab claims`. SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "claims/elsewhere.h"
#include "claims/measure.h"
#include "claims/words.h"
#include "claims/write.h"
#include "machine/machine.h"
#include "timing/modes.h"
#include "verbs/options.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char folder[] = "experiments/claims";

static void help(void) {
    printf(
        "normlab claims [options] [NAME | FILE.txt]...\n\n"
        "Tests claims about LayerNorm and RMSNorm. Each claim is a file: NAME stands for\n"
        "%s/NAME.txt; the default is every file in that folder. Every\n"
        "implementation is verified before it is timed, and again afterwards (docs/claims.md).\n\n"
        "  --out FILE.csv  a line for each claim and setting, the machine's facts beside it\n"
        "  --seconds S     of timing for each arm of a race (0.2; with --quick 0.02), four\n"
        "                  times that above %d elements\n"
        "  --quick         short timing, nothing above %d elements\n"
        "  --measured FILE.csv  the layers inside frameworks, which\n"
        "                  `python -m normlab.frameworks --out FILE.csv` measures\n"
        "  --load FILE.so  also the kernels of a library (normlab_kernel.h), for claims that name\n"
        "                  them; may be repeated\n\n"
        "Answers: HOLDS; FAILS; DEPENDS, where settings disagree; NOT RESOLVED (the interval,\n"
        "extended by the A/A band, is wider than the question); NOT RUN, with --quick. The first\n"
        "setting, marked >, is the one that the claim means. A claim that fails is a result: exit\n"
        "code 0. The CSV also has the verdict of each setting: SUPPORTED, REFUTED, SAME (no\n"
        "difference beyond the claim's margin) or NOT RESOLVED.\n\n"
        "Quantities:\n",
        folder, QUICK_MAX, QUICK_MAX);
    for (size_t i = 0; i < quantities_count; i++)
        printf("  %-13s %s%s%s%s\n", quantities[i].name, quantities[i].about,
               *quantities[i].unit ? " (" : "", quantities[i].unit, *quantities[i].unit ? ")" : "");
    printf("\nModes:\n");
    for (size_t i = 0; i < modes_count; i++) printf("  %-13s %s\n", modes[i].name, modes[i].about);
    printf("\nAlso pytorch, torch_compile, onnxruntime and jax, with --measured.\n\nExamples:\n"
           "  normlab claims\n"
           "  normlab claims seven_to_fifteen two_scans\n"
           "  normlab claims --quick --out results/claims.csv\n"
           "  normlab claims my_claim.txt --load ./mine.so\n");
}

static bool add(claims_job *j, const char *path) {
    char error[700];
    claim *more = realloc(j->claims, (j->count + 1) * sizeof *more);
    if (!more) return fprintf(stderr, "normlab: out of memory\n"), false;
    j->claims = more;
    if (claim_read(path, &j->claims[j->count], error, sizeof error)) return j->count++, true;
    fprintf(stderr, "normlab: %s\n", error);
    return false;
}

static bool add_all(claims_job *j) {
    char pattern[64];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/*.txt", folder);
    if (glob(pattern, 0, NULL, &files) != 0) {
        fprintf(stderr,
                "normlab: there are no files %s here: run it in the project's folder, or "
                "name a FILE.txt\n",
                pattern);
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < files.gl_pathc; i++) ok = add(j, files.gl_pathv[i]);
    globfree(&files);
    return ok;
}

static bool add_named(claims_job *j, const char *name) {
    char path[4096];
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".txt") == 0) return add(j, name);
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    if (access(path, R_OK) == 0) return add(j, path);
    fprintf(stderr, "normlab: no claim is called '%s': there is no %s\n", name, path);
    return false;
}

/* Returns -1 to continue, or the exit code. */
static int parse(int argc, char **argv, claims_job *j, const char **path) {
    const char *measured = NULL;
    char error[700];
    const option_spec specs[] = {{"out", OPTION_TEXT, path, 0, 0},
                                 {"seconds", OPTION_NUMBER, &j->seconds, 1e-6, 1e6},
                                 {"quick", OPTION_FLAG, &j->quick, 0, 0},
                                 {"measured", OPTION_TEXT, &measured, 0, 0},
                                 {"load", OPTION_LOAD, NULL, 0, 0}};
    int first, code = options_read(argc, argv, specs, 5, false, &first);
    if (code == OPTIONS_HELP) return help(), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    bool ok = first < argc || add_all(j);
    for (int i = first; ok && i < argc; i++) ok = add_named(j, argv[i]);
    if (ok && !elsewhere_read(measured, j->claims, j->count, error, sizeof error))
        return fprintf(stderr, "normlab: %s\n", error), NL_EXIT_USAGE;
    if (!j->seconds) j->seconds = j->quick ? 0.02 : 0.2;
    return ok ? OPTIONS_DONE : options_see_help();
}

static void print_failure(const claim *c, const setting *s) {
    fprintf(stderr, "FAIL %s, %s %s: %s\n", c->name, s->how, s->tail, s->why);
}

static void summary(const claims_job *j) {
    size_t answers[CLAIM_ANSWERS] = {0};
    for (size_t i = 0; i < j->count; i++) answers[claim_answer_of(&j->claims[i])]++;
    fprintf(stderr, "%zu claims: ", j->count);
    for (int a = 0; a < CLAIM_ANSWERS; a++)
        fprintf(stderr, "%s%zu %s", a ? ", " : "", answers[a], claim_answer_name(a));
    fprintf(stderr, "; %zu settings measured, %zu failed\n", j->settings_measured,
            j->settings_failed);
}

int verb_claims(int argc, char **argv) {
    claims_job j = {.progress = progress, .failed = print_failure};
    const char *path = NULL;
    int code = parse(argc, argv, &j, &path);
    if (code >= 0) return free(j.claims), code;
    interrupt_watch();
    FILE *csv = path ? fopen(path, "w") : isatty(STDOUT_FILENO) ? NULL : stdout;
    if (path && (!csv || !machine_write_beside(path, j.quick))) {
        fprintf(stderr, "normlab: cannot write %s: %s\n", path, strerror(errno));
        return free(j.claims), NL_EXIT_USAGE;
    }
    bool ok = claims_measure(&j);
    if (!ok) fprintf(stderr, "normlab: out of memory\n");
    if (csv) claims_write_csv(csv, j.claims, j.count);
    if (path || !csv) claims_write_text(stdout, j.claims, j.count); /* as `bench` does */
    bool written = !csv || (fflush(csv) == 0 && !ferror(csv));
    if (path) written = fclose(csv) == 0 && written;
    if (!written)
        fprintf(stderr, "normlab: writing the results failed: %s\n", strerror(errno));
    else if (path)
        fprintf(stderr, "results: %s\n", path);
    summary(&j);
    if (j.settings_measured == 0) fprintf(stderr, "FAIL nothing was measured\n");
    ok = ok && j.settings_measured && !j.settings_failed && written;
    free(j.claims);
    if (progress_interrupted()) return NL_EXIT_INTERRUPTED;
    return ok ? NL_EXIT_OK : NL_EXIT_FAILED;
}
