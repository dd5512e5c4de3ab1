/* `normlab claims`. SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "base/interrupt.h"
#include "claims/evidence.h"
#include "claims/rivals.h"
#include "claims/claim.h"
#include "machine/machine.h"
#include "timing/race.h"
#include "cli/options.h"
#include "cli/passes.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
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
        "  --out FILE.csv  a line for each claim and setting; FILE.machine.txt: the machine\n"
        "  --seconds S     time per candidate (0.2; with --quick 0.02), split over four visits;\n"
        "                  with --quick one visit; above %d elements one visit of 4 S\n"
        "  --quick         short timing, nothing above %d elements\n"
        "  --passes N      measure in N fresh processes, with pauses, in new random orders;\n"
        "                  then pool them with the stored passes of the same kernels. With\n"
        "                  fewer than %d the answer is a FIRST LOOK: another run may differ\n"
        "  --evidence FOLDER  where passes are stored (results/evidence/PROCESSOR); if given\n"
        "                  without --passes, nothing is timed\n"
        "  --stability     prints how often three passes contradict the others, not answers;\n"
        "                  needs %d passes\n"
        "  --measured FILE.csv  add the times inside frameworks, which\n"
        "                  `python -m normlab.frameworks --out FILE.csv` measures\n\n"
        "Answers: HOLDS; FAILS; DEPENDS, if settings disagree; NOT RESOLVED, if an interval with\n"
        "the A/A band is too wide; NOT RUN, if the first setting was not measured;\n"
        "FIRST LOOK, no answer yet. The answer is about the first setting, marked >. A claim that\n"
        "fails is a result: exit code 0. The CSV also has the verdict of each setting: SUPPORTED,\n"
        "REFUTED, SAME (no difference beyond the claim's margin) or NOT RESOLVED.\n\n"
        "Quantities:\n",
        folder, QUICK_MAX, QUICK_MAX, PASSES_ENOUGH, 2 * PASSES_ENOUGH);
    for (size_t i = 0; i < quantities_count; i++)
        printf("  %-13s %s%s%s%s\n", quantities[i].name, quantities[i].about,
               *quantities[i].unit ? " (" : "", quantities[i].unit, *quantities[i].unit ? ")" : "");
    printf("\nModes:\n");
    for (size_t i = 0; i < modes_count; i++) printf("  %-13s %s\n", modes[i].name, modes[i].about);
    const char *name, *words;
    printf("\nRivals:\n");
    for (size_t i = 0; rivals_name(i, &name, &words); i++) printf("  %-13s %s\n", name, words);
    printf("\nAlso pytorch, torch_compile, onnxruntime and jax, with --measured.\n\nExamples:\n"
           "  normlab claims\n"
           "  normlab claims seven_to_fifteen two_scans\n"
           "  normlab claims --passes 6\n"
           "  normlab claims --quick --out results/claims.csv\n");
}

/* The folder of the passes, and the arguments of the child process that makes a pass. */
typedef struct pass_options {
    int passes;         /* number of passes to make */
    const char *folder; /* NULL: gather() sets the processor's folder */
    const char *races;  /* file of the races of a child process */
    char **names;       /* names of the claims */
    int name_count;
    double seconds;
    bool quick, stability;
} pass_options;

/* Records how many races there are, so that a missing one is noticed later. */
static bool describe_pass(const char *folder, const char *races, bool quick) {
    char path[4400], error[700];
    evidence e = {0};
    if (!evidence_read(&e, races, error, sizeof error))
        return fprintf(stderr, "normlab: %s\n", error), false;
    snprintf(path, sizeof path, "%s/machine.txt", folder);
    FILE *out = fopen(path, "w");
    if (out) machine_write(out);
    if (out) fprintf(out, "races: %zu\nquick: %s\n", e.count, quick ? "yes" : "no");
    evidence_free(&e);
    if (out && fclose(out) == 0 && evidence_seal(folder)) return true;
    return fprintf(stderr, "normlab: cannot write %s: %s\n", path, strerror(errno)), false;
}

static bool run_pass(const void *context, const char *folder, unsigned seed) {
    const pass_options *p = context;
    char races[4400];
    process run = {0};
    snprintf(races, sizeof races, "%s/races.csv", folder);
    process_word(&run, "normlab"), process_word(&run, "claims");
    process_word(&run, "--races=%s", races);
    process_word(&run, "--seconds=%.9g", p->seconds);
    process_word(&run, "--seed=%u", seed);
    if (p->quick) process_word(&run, "--quick");
    process_word(&run, "--"); /* a name may begin with '-', as -x.txt */
    for (int i = 0; i < p->name_count; i++) process_word(&run, "%s", p->names[i]);
    return process_run(&run) == NL_EXIT_OK && describe_pass(folder, races, p->quick);
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

static glob_t files; /* of all claims */

static bool find_files(char pattern[64]) {
    snprintf(pattern, 64, "%s/*.txt", folder);
    return glob(pattern, 0, NULL, &files) == 0;
}

static bool add_all(claims_job *j) {
    char pattern[64];
    if (!find_files(pattern)) {
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

/* Claim i's name, cut out of its path. */
static const char *name_of(size_t i) {
    char *name = files.gl_pathv[i] + strlen(folder) + 1;
    name[strcspn(name, ".")] = '\0';
    return name;
}

static bool add_named(claims_job *j, const char *name) {
    char path[4096], other[4200], pattern[64];
    if (ends_with(name, ".txt")) return add(j, name);
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    if (access(path, R_OK) == 0) return add(j, path);
    const bool found = find_files(pattern);
    snprintf(other, sizeof other,
             found ? ": there is no %s"
                   : ": this folder has no %s; run it in the project's folder, or name a FILE.txt",
             path);
    fprintf(stderr, "normlab: no claim is called '%s'", name);
    guess_print(name, strlen(name), name_of, found ? files.gl_pathc : 0, other);
    if (found) globfree(&files);
    return false;
}

/* Returns -1 to continue, or the exit code. */
static int parse(int argc, char **argv, claims_job *j, const char **path, pass_options *p) {
    const char *measured = NULL;
    char error[700];
    int seed = 0;
    const option_spec specs[] = {{"out", OPTION_TEXT, path, 0, 0},
                                 {"seconds", OPTION_NUMBER, &j->seconds, 1e-6, 1e6},
                                 {"quick", OPTION_FLAG, &j->quick, 0, 0},
                                 {"measured", OPTION_TEXT, &measured, 0, 0},
                                 {"passes", OPTION_COUNT, &p->passes, 1, 999},
                                 {"evidence", OPTION_TEXT, &p->folder, 0, 0},
                                 {"races", OPTION_TEXT, &p->races, 0, 0}, /* internal: a child
                                                                           * process runs one
                                                                           * pass */
                                 {"stability", OPTION_FLAG, &p->stability, 0, 0},
                                 {"seed", OPTION_COUNT, &seed, 0, 1 << 30}};
    int first, code = options_read(argc, argv, NULL, specs, 9, false, &first);
    if (code == OPTIONS_HELP) return help(), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    bool ok = first < argc || add_all(j);
    for (int i = first; ok && i < argc; i++) ok = add_named(j, argv[i]);
    if (ok && measured && !evidence_read(&j->evidence, measured, error, sizeof error))
        return fprintf(stderr, "normlab: %s\n", error), NL_EXIT_USAGE;
    p->names = argv + first, p->name_count = argc - first, j->seed = (uint64_t)seed;
    if (!j->seconds) j->seconds = j->quick ? 0.02 : 0.2;
    return ok ? OPTIONS_DONE : options_see_help();
}

static void print_failure(const claim *c, const setting *s) {
    fprintf(stderr, "FAIL %s, %s %s: %s\n", c->name, s->how, s->tail, s->why);
}

static void summary(const claims_job *j) {
    size_t answers[CLAIM_ANSWERS] = {0};
    for (size_t i = 0; i < j->count; i++) answers[claim_answer_of(&j->claims[i])]++;
    fprintf(stderr, "%zu claim%s: ", j->count, j->count == 1 ? "" : "s");
    for (int a = 0; a < CLAIM_ANSWERS; a++)
        fprintf(stderr, "%s%zu %s", a ? ", " : "", answers[a], claim_answer_name(a));
    fprintf(stderr, "; %zu setting%s measured, %zu failed\n", j->settings_measured,
            j->settings_measured == 1 ? "" : "s", j->settings_failed);
}

static void describe_left_out(const evidence *e) {
    const struct {
        size_t count;
        const char *are, *last;
    } left[] = {{e->strange, ", on other kernels or with another --quick", ""},
                {e->elsewhere, ", with another processor, cpus, caches, threads or instruction set",
                 ""},
                {e->copies, ", copied from others", ""},
                {e->torn, ", not ended", ""},
                {e->damaged, ", damaged, the last: ", e->fault}};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i].count)
            fprintf(stderr, "left out: %zu pass%s%s%s\n", left[i].count,
                    left[i].count == 1 ? "" : "es", left[i].are, left[i].last);
}

/* Times the races in this process, in passes, or not at all. False: after a message. */
static bool gather(claims_job *j, pass_options *p) {
    p->seconds = j->seconds, p->quick = j->quick;
    if (!p->passes && !p->folder)
        return claims_race(j) || (fprintf(stderr, "normlab: out of memory\n"), false);
    const size_t measured = j->evidence.passes; /* passes in frameworks */
    if (!p->folder) p->folder = passes_folder();
    if (!passes_make(&(pass_plan){p->passes, p->folder, p, run_pass})) return false;
    evidence_read_folder(&j->evidence, p->folder, p->quick, p->passes ? machine_kernels() : NULL);
    claim_caches(j->evidence.caches);
    if (j->evidence.passes > measured) return true;
    if (interrupted()) return false;
    fprintf(stderr, "FAIL there is no whole pass in %s\n", p->folder);
    describe_left_out(&j->evidence);
    return false;
}

/* Runs in the child process: writes only races, to a file. */
static int one_pass(claims_job *j, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out)
        return fprintf(stderr, "normlab: cannot write %s: %s\n", path, strerror(errno)),
               NL_EXIT_USAGE;
    bool ok = claims_race(j);
    evidence_heading(out);
    for (size_t i = 0; i < j->evidence.count; i++) evidence_write(out, &j->evidence.rows[i]);
    ok = report_written(out, path) && ok;
    free(j->claims);
    evidence_free(&j->evidence);
    return interrupted() ? NL_EXIT_INTERRUPTED : ok ? NL_EXIT_OK : NL_EXIT_FAILED;
}

/* Adds the number of passes to the machine's facts beside the results. */
static void append_facts(const char *path, const evidence *e) {
    char name[CSV_PATH];
    FILE *f = csv_beside(path, ".machine.txt", name) ? fopen(name, "a") : NULL;
    if (f)
        fprintf(f, "passes: %zu in %zu sittings over %.1f h\n", e->passes, e->sittings, e->hours),
            fclose(f);
}

static void describe(const claims_job *j, const pass_options *p) {
    const evidence *e = &j->evidence;
    if (!p->folder) {
        bool first = false;
        for (size_t i = 0; i < j->count; i++)
            first = first || claim_answer_of(&j->claims[i]) == FIRST_LOOK;
        if (first)
            fprintf(stderr, "timed in one process: a first look; --passes %d gives answers\n",
                    PASSES_ENOUGH);
        report busy = {0};
        for (size_t i = 0; i < e->count; i++) busy.band = fmax(busy.band, e->rows[i].band);
        report_busy(&busy);
        return;
    }
    fprintf(stderr, "pooled: %zu pass%s in %zu sitting%s over %.1f h, in %s\n", e->passes,
            e->passes == 1 ? "" : "es", e->sittings, e->sittings == 1 ? "" : "s", e->hours,
            p->folder);
    if (e->passes >= PASSES_ENOUGH && e->sittings < PASSES_ENOUGH)
        fprintf(stderr,
                "fewer than %d sittings: the intervals cover the passes, but another hour's times\n"
                "may lie outside. Run --passes 1 at other times, %d minutes apart or more\n",
                PASSES_ENOUGH, SITTING_S / 60);
    if (strcmp(e->kernels, machine_kernels()) != 0)
        fprintf(stderr, "the passes ran on other kernels than this program has\n");
    describe_left_out(e);
}

/* Computes --stability of all passes in the folder, after making the passes of --passes. */
static int show_stability(claims_job *j, pass_options *p) {
    if (!p->folder) p->folder = passes_folder();
    bool ok = gather(j, p);
    if (ok) claims_decide(j), describe_left_out(&j->evidence);
    stability found = {0};
    const bool enough = ok && stability_write(stdout, &j->evidence, j->claims, j->count, &found);
    if (enough)
        fprintf(stderr,
                "%zu draws of %d passes against the other %zu: intervals contradict each other in "
                "%.1f %%, answers differ in %zu of %zu comparisons\n",
                found.draws, PASSES_ENOUGH, found.rest, found.contradicted_pct, found.differ,
                found.answers);
    else if (ok)
        fprintf(stderr, "normlab: --stability needs %d passes; there are %zu in %s\n",
                2 * PASSES_ENOUGH, j->evidence.passes, p->folder);
    free(j->claims);
    evidence_free(&j->evidence);
    return enough ? NL_EXIT_OK : NL_EXIT_FAILED;
}

int cmd_claims(int argc, char **argv) {
    claims_job j = {.progress = progress, .failed = print_failure};
    pass_options p = {0};
    const char *path = NULL;
    int code = parse(argc, argv, &j, &path, &p);
    if (code >= 0) return free(j.claims), evidence_free(&j.evidence), code;
    interrupt_watch();
    if (p.races) return one_pass(&j, p.races);
    if (p.stability) return show_stability(&j, &p);
    FILE *csv = NULL;
    if (!report_can_write(path)) return free(j.claims), NL_EXIT_USAGE;
    bool ok = gather(&j, &p);
    if (ok) claims_decide(&j);
    if (ok) ok = report_file(&csv, path, j.quick);
    if (ok && path && p.folder) append_facts(path, &j.evidence);
    if (csv && ok) claims_write_csv(csv, j.claims, j.count);
    if (ok && (path || !csv)) claims_write_text(stdout, j.claims, j.count); /* as `bench` does */
    const bool written = csv || !path ? report_written(csv, path) : false;
    if (ok || !interrupted()) summary(&j);
    if (ok) describe(&j, &p);
    if (j.settings_measured == 0 && !interrupted()) fprintf(stderr, "FAIL nothing was measured\n");
    ok = ok && j.settings_measured && !j.settings_failed && written;
    free(j.claims);
    evidence_free(&j.evidence);
    if (p.passes ? interrupted() : progress_interrupted()) return NL_EXIT_INTERRUPTED;
    return ok ? NL_EXIT_OK : NL_EXIT_FAILED;
}
