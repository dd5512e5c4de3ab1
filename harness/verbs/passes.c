/* SPDX-License-Identifier: MIT */
#include "verbs/passes.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "machine/machine.h"
#include "verbs/processes.h"
#include "verbs/verbs.h"
#include "workbench/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static bool run_pass(const pass_options *p, const char *folder, unsigned seed) {
    char races[4400], seconds[32], drawn[32], *argv[64];
    snprintf(races, sizeof races, "%s/races.csv", folder);
    snprintf(seconds, sizeof seconds, "%.9g", p->seconds);
    snprintf(drawn, sizeof drawn, "%u", seed);
    int n = 0;
    argv[n++] = "normlab", argv[n++] = "claims";
    argv[n++] = "--races", argv[n++] = races;
    argv[n++] = "--seconds", argv[n++] = seconds;
    argv[n++] = "--seed", argv[n++] = drawn;
    if (p->quick) argv[n++] = "--quick";
    for (size_t i = 0; load_file(i); i++) argv[n++] = "--load", argv[n++] = (char *)load_file(i);
    for (int i = 0; i < p->name_count && n < 63; i++) argv[n++] = p->names[i];
    argv[n] = NULL;
    return process_run(argv, true) == NL_EXIT_OK && !interrupted();
}

static bool describe(const char *folder, bool quick) {
    char path[4400];
    snprintf(path, sizeof path, "%s/machine.txt", folder);
    FILE *out = fopen(path, "w");
    if (!out) return false;
    machine_write(out);
    fprintf(out, "quick: %s\n", quick ? "yes" : "no");
    return fclose(out) == 0;
}

/* A random part of a tenth of the time that a pass took, so that no other work stays in step. */
static void pause_a_little(double seconds, unsigned seed) {
    const double part = seconds / 10 * (seed % 1000) / 1000;
    for (const double end = clock_ns() + 1e9 * part; clock_ns() < end && !interrupted();)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

bool passes_make(pass_options *p) {
    static char own[512];
    char name[300];
    if (!p->folder) {
        machine_name(name, sizeof name);
        snprintf(own, sizeof own, "results/evidence/%s", name);
        p->folder = own;
    }
    char folder[4096], part[4200], whole[4200], when[32];
    snprintf(folder, sizeof folder, "%s", p->folder);
    if (p->passes && !make_folders(folder))
        return fprintf(stderr, "normlab: cannot make the folder %s: %s\n", folder, strerror(errno)),
               false;
    for (int i = 0; i < p->passes && !interrupted(); i++) {
        const time_t now = time(NULL);
        const unsigned seed = (unsigned)((uint64_t)now * 2654435761u + (unsigned)getpid()) >> 2;
        const double begin = clock_ns();
        strftime(when, sizeof when, "%Y-%m-%dT%H%M%SZ", gmtime(&now));
        snprintf(part, sizeof part, "%s/.%s-%d-%d.part", folder, when, (int)getpid(), i);
        snprintf(whole, sizeof whole, "%s/%s-%d-%d", folder, when, (int)getpid(), i);
        fprintf(stderr, "pass %d of %d\n", i + 1, p->passes);
        if (mkdir(part, 0777) != 0)
            return fprintf(stderr, "normlab: cannot make %s: %s\n", part, strerror(errno)), false;
        const bool ran = run_pass(p, part, seed) && describe(part, p->quick);
        if (!ran && interrupted()) break;
        if (!ran || rename(part, whole) != 0)
            return fprintf(stderr, "normlab: the pass in %s failed\n", part), false;
        if (i + 1 < p->passes) pause_a_little(1e-9 * (clock_ns() - begin), seed);
    }
    return true;
}

bool passes_read(const pass_options *p, evidence *e, char *error, size_t error_size) {
    return evidence_read_folder(e, p->folder, p->quick, p->passes ? machine_kernels() : NULL, error,
                                error_size) ||
           (fprintf(stderr, "normlab: %s\n", error), false);
}
