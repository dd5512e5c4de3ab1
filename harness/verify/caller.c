/* SPDX-License-Identifier: MIT */
#include "verify/caller.h"
#include "base/clock.h"
#include "platform/system.h"
#include "verify/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MOST = 20 };

/* Ends the process. If `why` is empty, the process had ended by itself: describes how. */
static bool end(caller *k) {
    if (!k->pid) return false;
    const int status = worker_stop(&k->pid, k->line, true);
    if (!*k->why) crash_describe_end(k->record, status, k->why, sizeof k->why);
    return false;
}

static bool fail(caller *k, const char *why) {
    snprintf(k->why, sizeof k->why, "%s", why);
    return end(k);
}

static bool hear(caller *k, unsigned char *byte) {
    siginfo_t ended = {0};
    errno = 0;
    if (worker_read(k->line, byte, k->by_clock)) return true;
    if (errno == EAGAIN) return fail(k, "has not returned: an endless loop, or a deadlock?");
    for (int i = 0; i < 1000 && !ended.si_pid; i++) {
        if (waitid(P_PID, (id_t)k->pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) break;
        usleep(100);
    }
    return end(k);
}

/* Stops the process with all its threads, so that a kernel cannot do work after a call. */
static bool halt(caller *k) {
    siginfo_t now;
    kill(k->pid, SIGSTOP);
    if (waitid(P_PID, (id_t)k->pid, &now, WSTOPPED | WEXITED | WNOWAIT) != 0) return end(k);
    if (now.si_code != CLD_STOPPED) return end(k);
    const int threads = worker_threads(k->pid);
    char text[100];
    snprintf(text, sizeof text, "has %d threads, but a call may use %d", threads, k->threads);
    return threads <= k->threads || fail(k, text);
}

bool caller_start(caller *k, const instance *in, int threads, bool by_clock) {
    const int nowhere = open("/dev/null", O_WRONLY);
    const int output[2] = {nowhere, nowhere};
    *k = (caller){.record = worker_share(sizeof *k->record),
                  .threads = threads,
                  .by_clock = by_clock};
    if (k->record) {
        worker_fill(k->record, in, threads);
        k->record->request = REQUEST_TURNS;
        k->pid = worker_start(k->record, output, &k->line);
    }
    close(nowhere);
    const struct timeval most = {.tv_sec = SECONDS_MOST};
    if (k->pid) setsockopt(k->line, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    return k->pid && send(k->line, "t", 1, MSG_NOSIGNAL) == 1;
}

/* Reads the clock, or the processor time of the process, which may run on another CPU. */
static double now(const caller *k) {
    const double time = k->by_clock ? -1 : processor_ns(k->pid);
    return time < 0 ? clock_ns() : time;
}

bool caller_ready(caller *k, int turn) {
    const unsigned char what = (unsigned char)(turn | (k->by_clock ? TURN_SPINS : 0));
    unsigned char answer;
    if (!k->pid) return false;
    kill(k->pid, SIGCONT);
    if (send(k->line, &what, 1, MSG_NOSIGNAL) != 1 || !hear(k, &answer)) return end(k);
    return answer == 'r' || fail(k, "wrote to files that are not its own");
}

bool caller_call(caller *k, double *ns) {
    unsigned char answer;
    if (!k->pid) return false;
    const double begin = now(k);
    if (send(k->line, "g", 1, MSG_NOSIGNAL) != 1 || !hear(k, &answer)) return end(k);
    *ns = now(k) - begin;
    if (answer == 'f') return fail(k, "was called with arguments that it refuses");
    return answer == 'd' ? halt(k) : fail(k, "wrote to files that are not its own");
}

void caller_stop(caller *k) {
    snprintf(k->why, sizeof k->why, "stopped");
    end(k);
    if (k->record) munmap(k->record, sizeof *k->record);
    *k = (caller){0};
}
