/* SPDX-License-Identifier: MIT */
#include "cli/passes.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *process_program = "normlab";

int process_run(char **argv) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        setenv("NL_PASS", "1", 1);
        execv("/proc/self/exe", argv);
        execvp(process_program, argv); /* where there is no /proc */
        _exit(127);
    }
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

/* A random pause, up to a tenth of the pass's time, so that passes do not stay in step with other
 * work. */
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
        const bool ran = p->run(p->context, part, seed) && !interrupted();
        if (!ran && interrupted()) break;
        if (!ran || rename(part, whole) != 0)
            return fprintf(stderr, "normlab: the pass in %s failed\n", part), false;
        if (i + 1 < p->passes) pause_a_little(1e-9 * (clock_ns() - begin), seed);
    }
    return true;
}
