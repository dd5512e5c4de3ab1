/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "timing/candidate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t owner; /* 0: not watching */
static int exit_code;

static void say(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static void name(const char *did) {
    say("\nnormlab: ");
    say(candidate_calls);
    say(did);
    say(", in the process that times kernels: `normlab check` runs kernels in another process\n");
}

static void on_exit_called(void) {
    if (getpid() != owner) return;
    fflush(NULL);
    if (candidate_calls)
        name(" called exit()");
    else /* libgomp calls exit() if it lacks memory for threads */
        say("\nnormlab: exit() was called while no kernel ran\n");
    _exit(exit_code);
}

static void on_crash(int number) {
    if (getpid() == owner && candidate_calls) name(" crashed");
    signal(number, SIG_DFL);
    raise(number);
}

void blame_watch(int code) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    owner = getpid(), exit_code = code;
    atexit(on_exit_called);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction now;
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            signal(crashes[i], on_crash); /* a sanitizer has a better handler */
    }
}

void blame_nobody(void) {
    owner = 0;
}
