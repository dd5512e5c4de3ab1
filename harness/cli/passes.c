/* SPDX-License-Identifier: MIT */
#include "cli/passes.h"
#include "base/clock.h"
#include "base/csv.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "machine/machine.h"
#include "results/results.h"
#include "workbench/load.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif

const char *process_program = "normlab";

void process_word(process *p, const char *format, ...) {
    char **more = realloc(p->argv, (p->count + 2) * sizeof *more);
    va_list list;
    va_start(list, format);
    if (more) p->argv = more;
    p->lost = p->lost || !more || vasprintf(&p->argv[p->count], format, list) < 0;
    va_end(list);
    if (!p->lost) p->argv[++p->count] = NULL;
}

int process_run(process *p) {
    int status;
    pid_t child = p->lost ? -1 : fork();
    if (child == 0) {
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* the child ends with its parent */
#endif
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        char number[16];
        snprintf(number, sizeof number, "%d", p->number);
        setenv("NL_PASS", number, 1);
        execv("/proc/self/exe", p->argv);
        execvp(process_program, p->argv); /* for systems without /proc */
        _exit(127);
    }
    while (p->count) free(p->argv[--p->count]);
    free(p->argv);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool make_folders(char *path) {
    for (char *slash = path; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash) *slash = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (slash) *slash = '/';
        if (!made) return false;
    }
    return true;
}

/* Pauses for a random time, up to a tenth of the pass's time, so that passes do not stay in step
 * with other work. */
static void pause_a_little(double seconds, unsigned seed) {
    const double part = seconds / 10 * (seed % 1000) / 1000;
    for (const double end = clock_ns() + 1e9 * part; clock_ns() < end && !interrupted();)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

const char *passes_folder(void) {
    static char own[512];
    char name[300];
    machine_name(name, sizeof name);
    snprintf(own, sizeof own, "results/evidence/%s", name);
    return own;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)about, (void)kind, (void)at;
    return remove(path);
}

bool passes_make(const pass_plan *p) {
    char folder[4096], part[4200], whole[4200], when[32];
    snprintf(folder, sizeof folder, "%s", p->folder);
    if (p->passes && !make_folders(folder))
        return fprintf(stderr, "normlab: cannot make the folder %s: %s\n", folder, strerror(errno)),
               false;
    for (int i = 0; i < p->passes && !interrupted(); i++) {
        const time_t now = time(NULL);
        const unsigned seed = (unsigned)(((uint64_t)now + 1000003u * (unsigned)i) * 2654435761u +
                                         (unsigned)getpid()) >>
                              2;
        const double begin = clock_ns();
        strftime(when, sizeof when, "%Y-%m-%dT%H%M%SZ", gmtime(&now));
        snprintf(part, sizeof part, "%s/.%s-%d-%d.part", folder, when, (int)getpid(), i);
        snprintf(whole, sizeof whole, "%s/%s-%d-%d", folder, when, (int)getpid(), i);
        fprintf(stderr, "pass %d of %d\n", i + 1, p->passes);
        if (mkdir(part, 0777) != 0)
            return fprintf(stderr, "normlab: cannot make %s: %s\n", part, strerror(errno)), false;
        const bool ran = p->run(p->context, part, seed);
        if (!ran && interrupted()) {
            fprintf(stderr, "interrupted: the pass under way is not kept\n");
            return nftw(part, remove_one, 8, FTW_DEPTH | FTW_PHYS), true;
        }
        if (!ran || rename(part, whole) != 0)
            return fprintf(stderr, "normlab: the pass in %s failed\n", part), false;
        if (i + 1 < p->passes) pause_a_little(1e-9 * (clock_ns() - begin), seed);
    }
    return true;
}

/* Writes the cases to a file, in a random order. */
static bool write_cases(const case_list *cases, const char *path, unsigned seed) {
    FILE *out = fopen(path, "w");
    size_t *order = malloc((cases->count + 1) * sizeof *order);
    for (size_t i = 0; out && order && i < cases->count; i++) {
        uint32_t words[4];
        random_words(seed, i, words);
        const size_t other = words[0] % (i + 1);
        order[i] = order[other], order[other] = i;
    }
    for (size_t i = 0; out && order && i < cases->count; i++)
        fprintf(out, "%s\n", cases->items[order[i]].text);
    const bool ok = out && order;
    free(order);
    return out && fclose(out) == 0 && ok;
}

/* Appends the checksum of a file to the machine's facts. */
static bool seal(const char *csv) {
    char path[CSV_PATH];
    uint32_t crc = 0;
    FILE *out =
        csv_beside(csv, ".machine.txt", path) && crc_file(&crc, csv) ? fopen(path, "a") : NULL;
    if (out) fprintf(out, "crc: %08x\n", (unsigned)crc);
    return out && fclose(out) == 0;
}

/* The processes of a pass, which share its time. What a ratio depends on (where code and buffers
 * lie, what else the core does) changes more between processes than between rounds. */
enum { PROCESSES = 12, QUICK_PROCESSES = 3 };

static int processes_of(const case_options *o) {
    return o->quick ? QUICK_PROCESSES : PROCESSES;
}

/* Process k of a pass. */
static bool run_process(const case_options *o, const char *folder, const char *cases, int k) {
    char csv[4400];
    process p = {.number = k};
    snprintf(csv, sizeof csv, "%s/bench-%d.csv", folder, k);
    process_word(&p, "normlab"), process_word(&p, "bench"), process_word(&p, "%s", cases);
    process_word(&p, "--out=%s", csv);
    process_word(&p, "--seconds=%.9g", o->seconds / processes_of(o));
    process_word(&p, "--precision=%.9g", o->precision);
    process_word(&p, "--threads=%d", o->threads);
    if (o->quick) process_word(&p, "--quick");
    if (o->impl) process_word(&p, "--impl=%s", o->impl);
    if (o->baseline) process_word(&p, "--baseline=%s", o->baseline);
    for (size_t i = 0; load_file(i); i++) process_word(&p, "--load=%s", load_file(i));
    const int status = process_run(&p);
    return (status == NL_EXIT_OK || status == NL_EXIT_FAILED) &&
           seal(csv); /* a process with exit code 1 has rows, too */
}

static bool run(const void *context, const char *folder, unsigned seed) {
    const case_options *o = context;
    char cases[4400];
    snprintf(cases, sizeof cases, "%s/cases.txt", folder);
    bool ok = write_cases(&o->cases, cases, seed);
    if (!ok) fprintf(stderr, "normlab: cannot write %s\n", cases);
    const double begin = clock_ns();
    for (int k = 1; k <= processes_of(o) && ok && !interrupted(); k++) {
        ok = run_process(o, folder, cases, k);
        if (ok && k == 1)
            fprintf(stderr, "%d processes: about %.0f s for the pass\n", processes_of(o),
                    1e-9 * processes_of(o) * (clock_ns() - begin));
    }
    return ok && !interrupted();
}

static void heading_csv(void) {
    puts("case,impl,isa,threads,verdict,passes,ns,ns_low,ns_high,limit_pct,speedup,speedup_low,"
         "speedup_high,comparison,flag");
}

static const char *word(const result *r, double margin) {
    if (strcmp(r->comparison, "baseline") == 0) return r->comparison;
    const estimate s = estimate_of_passes(r, PASS_SPEED);
    return comparison_name(stats_verdict((estimate){-s.median, -s.high, -s.low}, 0, margin));
}

static void write_csv(const result *r, double margin) {
    const double numbers[] = {r->ns,      r->ns_low,      r->ns_high,     r->limit_pct,
                              r->speedup, r->speedup_low, r->speedup_high};
    csv_text(stdout, r->spelling), csv_text(stdout, r->impl);
    printf("%s,%d,%s,%zu,", r->isa, r->threads, r->verdict, r->passes);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) csv_number(stdout, numbers[i]);
    printf("%s,%s\n", isnan(r->ns) ? "" : word(r, margin), r->flag);
}

static void write_table(const result *r, const char *heading, int width, double margin) {
    char time[32], speed[64];
    if (!heading || strcmp(r->spelling, heading) != 0)
        printf("\n%s\n  %-*s %-7s %6s %9s %7s %7s %8s  %s\n", r->spelling, width, "implementation",
               "isa", "passes", "time", "+-", "limit", "speed", "interval");
    printf("  %-*s %-7s %6zu", width, r->impl, r->isa, r->passes);
    if (isnan(r->ns)) {
        printf(" %s\n", r->verdict);
        return;
    }
    snprintf(speed, sizeof speed, "[%.2f, %.2f]", r->speedup_low, r->speedup_high);
    printf(" %9s %6.1f%% %6.1f%% %7.2fx  %-16s %s %s\n", human_ns(r->ns, time),
           50 * (r->ns_high - r->ns_low) / r->ns, r->limit_pct, r->speedup, speed, word(r, margin),
           r->flag);
}

/* Prints the passes as a table or as CSV; returns the number of rows that failed. */
static size_t show(const results *pool, bool csv, double margin) {
    const char *heading = NULL;
    int width = (int)strlen("implementation");
    size_t failed = 0;
    for (size_t i = 0; i < pool->count; i++)
        width = (int)fmax(width, fmin(40, (double)strlen(pool->rows[i].impl)));
    if (csv) heading_csv();
    for (size_t i = 0; i < pool->count; i++) {
        const result *r = &pool->rows[i];
        failed += strcmp(r->verdict, "fail") == 0;
        if (csv)
            write_csv(r, margin);
        else
            write_table(r, heading, width, margin);
        heading = r->spelling;
    }
    return failed;
}

/* Can a new pass be pooled with the passes of the folder? If not, it would make the folder
 * unreadable. */
static bool fits(const char *folder, bool quick) {
    const char *const now[][2] = {{"kernels", machine_kernels()},
                                  {"loaded", load_checksum()},
                                  {"quick", quick ? "yes" : "no"}};
    char error[700];
    results pool;
    bool ok = true;
    if (!pool_is(folder)) return true;
    if (!pool_read(folder, &pool, error, sizeof error))
        return fprintf(stderr, "normlab: %s\n", error), false;
    for (size_t i = 0; i < sizeof now / sizeof *now && ok; i++) {
        const char *key = now[i][0], *is = now[i][1], *was = results_fact(&pool, key);
        ok = strcmp(was ? was : "", is ? is : "") == 0;
        if (!ok)
            fprintf(stderr,
                    "normlab: in the passes of %s, %s is '%s', and now it is '%s': name another "
                    "folder\n",
                    folder, key, was ? was : "", is ? is : "");
    }
    results_free(&pool);
    return ok;
}

int bench_passes(const case_options *o) {
    char own[512], error[700];
    const char *temporary = getenv("TMPDIR");
    snprintf(own, sizeof own, "%s/normlab-XXXXXX", temporary ? temporary : "/tmp");
    if (o->out && ends_with(o->out, ".csv")) {
        fprintf(stderr, "normlab: with --passes, --out names a folder of passes, not a file\n");
        return NL_EXIT_USAGE;
    }
    if (o->out && !fits(o->out, o->quick)) return NL_EXIT_USAGE;
    if (!o->out && !mkdtemp(own)) {
        fprintf(stderr, "normlab: cannot make a folder %s: %s\n", own, strerror(errno));
        return NL_EXIT_USAGE;
    }
    const pass_plan plan = {o->passes, o->out ? o->out : own, o, run};
    results pool;
    interrupt_watch();
    bool ok = passes_make(&plan); /* otherwise the pass printed the reason */
    if (ok && !pool_read(plan.folder, &pool, error, sizeof error)) {
        if (!interrupted()) fprintf(stderr, "normlab: %s\n", error);
        ok = false;
    }
    if (ok) {
        const size_t failed = show(&pool, !o->out && !isatty(STDOUT_FILENO), log1p(o->margin));
        if (*pool.warning) fprintf(stderr, "warning: %s\n", pool.warning);
        fprintf(stderr, "%zu passes%s%s; %zu rows, %zu failed\n", pool.passes, o->out ? " in " : "",
                o->out ? o->out : "", pool.count, failed);
        if (pool.passes < PASSES_ENOUGH)
            fprintf(
                stderr,
                "fewer than %d passes: the intervals show only differences within these passes; "
                "another run's times may lie outside\n",
                PASSES_ENOUGH);
        ok = pool.count && !failed;
        results_free(&pool);
    }
    if (!o->out) nftw(own, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return interrupted() ? NL_EXIT_INTERRUPTED : ok ? NL_EXIT_OK : NL_EXIT_FAILED;
}
