/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include "verify/cell.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "verify/isolate.h"
#include "verify/seal.h"
#include "verify/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

static struct end {
    bool done;
    volatile int call; /* the system call that was refused; -1: none */
    volatile unsigned alive;
} * end;

void *cell_memory(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void on_refused(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    end->call = info->si_syscall;
    _exit(1);
}

void cell_alive(void) {
    if (end) end->alive++;
}

void cell_close(void) {
    isolate_end();
    worker_seal(SEAL_ALL);
}

static _Noreturn void live(void (*work)(void *context), void *context) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1); /* results are the parent's to print */
    close(nowhere);
    struct sigaction catch = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &catch, NULL);
    worker_seal(SEAL_BUT_PROCESSES);
    work(context);
    isolate_end();
    end->done = true;
    worker_leave(0);
}

static void describe(int status, char *why, size_t size) {
    char name[60];
    if (end->call >= 0 && seal_call(end->call, name, sizeof name))
        snprintf(why, size,
                 "called %s(), which would write a file, start or end a process, or reach the "
                 "network",
                 name);
    else if (WIFSIGNALED(status))
        snprintf(why, size, "ended the process that grades, by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(why, size, "ended the process that grades, as by exit()");
}

bool cell_run(void (*work)(void *context), void *context, double patience, char *why, size_t size) {
    int status = 0;
    unsigned alive = 0;
    double until = clock_ns() + patience * 1e9;
    bool late = false;
    if (!end && !(end = cell_memory(sizeof *end)))
        return snprintf(why, size, "out of memory"), false;
    *end = (struct end){.call = -1};
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) live(work, context);
    if (child < 0) return snprintf(why, size, "cannot start a process"), false;
    for (bool told = false; waitpid(child, &status, WNOHANG) == 0;) {
        if (interrupted() && !told) told = kill(child, SIGINT) == 0;
        if (end->alive != alive) alive = end->alive, until = clock_ns() + patience * 1e9;
        if (!late && clock_ns() > until) late = kill(child, SIGKILL) == 0;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    if (late)
        snprintf(why, size, "a call did not return within %g seconds: an endless loop?", patience);
    else if (!end->done)
        describe(status, why, size);
    return end->done && !late;
}
