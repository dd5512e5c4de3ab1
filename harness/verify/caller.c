/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MSG_NOSIGNAL */
#endif
#include "verify/caller.h"
#include "base/clock.h"
#include "verify/crash.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MOST = 20 };

/* Ends it; why, unless it says so already, follows from how it had ended. */
static bool end(caller *k) {
    int status = 0;
    if (!k->pid) return false;
    kill(k->pid, SIGKILL);
    close(k->line);
    waitpid(k->pid, &status, 0);
    kill(-k->pid, SIGKILL);
    k->pid = 0;
    if (!*k->why) crash_describe_end(k->paper, status, k->why, sizeof k->why);
    return false;
}

static bool fail(caller *k, const char *why) {
    snprintf(k->why, sizeof k->why, "%s", why);
    return end(k);
}

static bool hear(caller *k, unsigned char *byte) {
    struct pollfd line = {.fd = k->line, .events = POLLIN};
    const double begin = clock_ns();
    enum { MOMENT_NS = 200000 };
    ssize_t got;
    do got = recv(k->line, byte, 1, MSG_DONTWAIT);
    while (got < 0 && clock_ns() < begin + MOMENT_NS);
    if (got < 0 && poll(&line, 1, 1000 * SECONDS_MOST) == 0)
        return fail(k, "has not returned: an endless loop, or a deadlock?");
    if (got < 0) got = recv(k->line, byte, 1, MSG_DONTWAIT);
    if (got == 1) return true;
    for (int i = 0;
         i < 1000 && waitid(P_PID, (id_t)k->pid, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) == 0;
         i++)
        usleep(100); /* so that it has noted how it ended */
    return end(k);
}

/* With all its threads: what a kernel has left to do after a call, it does not do then. */
static bool halt(caller *k) {
    siginfo_t now;
    kill(k->pid, SIGSTOP);
    if (waitid(P_PID, (id_t)k->pid, &now, WSTOPPED | WEXITED | WNOWAIT) != 0) return end(k);
    if (now.si_code != CLD_STOPPED) return end(k);
    const int threads = worker_threads(k->pid);
    char text[100];
    snprintf(text, sizeof text, "has %d threads, where a call may use %d", threads, k->threads);
    return threads <= k->threads || fail(k, text);
}

bool caller_start(caller *k, const instance *in, int threads) {
    const int nowhere = open("/dev/null", O_WRONLY);
    const int output[2] = {nowhere, nowhere};
    *k = (caller){.paper = worker_share(sizeof *k->paper), .threads = threads};
    if (k->paper) {
        worker_fill(k->paper, in, threads);
        k->paper->asks = ASKS_TURNS;
        k->pid = worker_start(k->paper, output, &k->line);
    }
    close(nowhere);
    return k->pid && send(k->line, "t", 1, MSG_NOSIGNAL) == 1;
}

bool caller_ready(caller *k, int turn) {
    const unsigned char what = (unsigned char)turn;
    unsigned char answer;
    if (!k->pid) return false;
    kill(k->pid, SIGCONT);
    if (send(k->line, &what, 1, MSG_NOSIGNAL) != 1 || !hear(k, &answer)) return end(k);
    return answer == 'r' || fail(k, "wrote to files that are not its own");
}

bool caller_call(caller *k, double *ns) {
    unsigned char answer;
    if (!k->pid) return false;
    const double begin = clock_ns();
    if (send(k->line, "g", 1, MSG_NOSIGNAL) != 1 || !hear(k, &answer)) return end(k);
    *ns = clock_ns() - begin;
    if (answer == 'f') return fail(k, "was called with arguments that it refuses");
    return answer == 'd' ? halt(k) : fail(k, "wrote to files that are not its own");
}

void caller_stop(caller *k) {
    snprintf(k->why, sizeof k->why, "stopped");
    end(k);
    if (k->paper) munmap(k->paper, sizeof *k->paper);
    *k = (caller){0};
}
