/* The parent's side. SPDX-License-Identifier: MIT */
#include "verify/isolate.h"
#include "base/clock.h"
#include "platform/system.h"
#include "registry.h"
#include "verify/worker.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <dirent.h>
#include <sys/prctl.h>
#endif

typedef struct child {
    pid_t pid; /* 0: none */
    int line;  /* carries one byte for a request, one for the answer */
} child;

/* Limits of processor time per thread and of elapsed time (s). A large case gets 2 us for each
 * number, about a hundred times as long as the plainest rung takes. */
static const double busy_most = 2, idle_most = 10, each_number = 2e-6;
enum { TIMES_OUT = 3, FIRST_ARENA = 16 << 20 };

/* The servers outlive a call, and are shared by all callers: starting one takes longer than most
 * calls. */
static call_record *record;
static arena room;
static child servers[2]; /* one for added kernels, one for our own */
static pid_t owner;
static int output[2] = {-1, -1}; /* what kernels print on stdout and stderr */

static int stop(child *k, bool now) {
    return worker_stop(&k->pid, k->line, now);
}

static void stop_servers(void) {
    if (getpid() != owner) return;
    for (int i = 0; i < 2; i++) stop(&servers[i], false);
}

static bool start(child *k) {
    for (int i = 0; i < 2; i++)
        if (output[i] < 0) output[i] = file_without_name();
    if (output[0] < 0 || output[1] < 0) return false;
    k->pid = worker_start(record, output, &k->line);
    return k->pid != 0;
}

static bool ready(void) {
    if (!record && !(record = worker_share(sizeof *record))) return false;
    if (owner == getpid()) return true;
    if (!owner) atexit(stop_servers);
    owner = getpid();
    servers[0].pid = servers[1].pid = 0; /* they are children of this process's parent */
    return true;
}

void isolate_end(void) {
    stop_servers();
    if (room.base) munmap(room.base, room.bytes);
    room = (arena){0};
}

arena *isolate_arena(size_t bytes) {
    if (!ready()) return NULL;
    if (bytes <= room.bytes) return &room;
    size_t more = room.bytes ? room.bytes : FIRST_ARENA;
    while (more < bytes) more *= 2;
    isolate_end();
    room = (arena){.base = worker_share(more)};
    room.bytes = room.base ? more : 0;
    return room.base ? &room : NULL;
}

/* Seconds of processor time that the child has had; 0 if unknown. */
static double busy(const child *k) {
    return fmax(0, 1e-9 * processor_ns(k->pid));
}

/* Waits for the answer. Returns 0, or the elapsed seconds if the time is up. */
static double wait_for(const child *k, const instance *in, int threads) {
    const double begin = clock_ns(), busy_before = busy(k);
    const nl_problem *p = in ? &in->c->problem : NULL;
    const double most = p ? each_number * (double)(p->n * p->c * p->s) : 0;
    for (;;) {
        struct pollfd line = {.fd = k->line, .events = POLLIN};
        siginfo_t ended = {0};
        if (poll(&line, 1, 100) > 0) return 0;
        if (waitid(P_PID, (id_t)k->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid)
            return 0; /* the child's own children may hold the line open */
        const double used = busy(k) - busy_before, gone = 1e-9 * (clock_ns() - begin);
        if (used >= fmax(busy_most, most) * threads || gone >= fmax(idle_most, most)) return gone;
    }
}

void (*isolate_heard)(const char *text);

/* Reads a file of output, and empties it. False: it was empty. */
static bool printed(int file, char *text, size_t size) {
    if (lseek(file, 0, SEEK_CUR) <= 0) return false;
    const ssize_t got = pread(file, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    if (ftruncate(file, 0) == 0) lseek(file, 0, SEEK_SET);
    return true;
}

static void join_lines(char *text) {
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ') *at = ' ';
    for (size_t last = strlen(text); last && text[last - 1] == ' ';) text[--last] = '\0';
}

/* Printing on stdout is a failure. Text on stderr, where runtimes warn, is only added to another
 * failure. Returns whether the call has failed. */
static bool describe_output(bool failed, char *why, size_t size) {
    enum { LONGEST = 119, HEARD = 4096 };
    char text[HEARD];
    size_t used = 0;
    for (int i = 0; i < 2 && isolate_heard; i++)
        if (printed(output[i], text + used, HEARD - used)) used += strlen(text + used);
    if (used) isolate_heard(text);
    used = failed ? strlen(why) : 0;
    for (int i = 0; i < 2; i++) {
        if (!printed(output[i], text, LONGEST + 1) || (i == 1 && !failed) || used >= size) continue;
        join_lines(text);
        used += (size_t)snprintf(why + used, size - used, "%sprinted \"%s\"", failed ? "; it " : "",
                                 text);
        failed = true;
    }
    return failed;
}

/* Has the implementation timed out so often that it is not called again? */
static bool hopeless(const nl_impl *impl, bool again) {
    static const nl_impl *last;
    static int times;
    if (again) times = impl == last ? times + 1 : 1, last = impl;
    return impl == last && times >= TIMES_OUT;
}

/* Describes what a kernel that returned did wrong. False: nothing. */
static bool describe_return(const call_record *s, char *why, size_t size) {
    if (s->status != NL_OK)
        snprintf(why, size, "%.*s", (int)sizeof s->message - 1, s->message);
    else if (s->forked)
        snprintf(why, size, "started a process");
    else if (s->left_threads)
        snprintf(why, size, "left threads running after it returned%s",
                 s->impl.threaded ? ", more than the call's `threads`"
                                  : " (only OpenMP's threads may stay, if .threaded is true)");
    else if (*s->left)
        snprintf(why, size, "%.*s", (int)sizeof s->left - 1, s->left);
    else
        return false;
    return true;
}

/* Is the implementation in the table? A forked child knows only the table as it was at the fork. */
static bool is_in_table(const nl_impl *impl) {
    for (size_t i = 0; i < nl_impl_count(); i++)
        if (nl_impl_at(i) == impl) return true;
    return false;
}

/* Sends the call record, and waits for the answer. in: NULL if the request is not a call. */
static bool send_request(child *k, const instance *in, int threads, char *why, size_t size) {
    static unsigned char calls; /* the child echoes this byte; a kernel may write another one */
    unsigned char byte = ++calls;
    const bool asked = send(k->line, &byte, 1, MSG_NOSIGNAL) == 1;
    const double late = wait_for(k, in, threads);
    const bool back = asked && !(late > 0) && recv(k->line, &byte, 1, MSG_DONTWAIT) == 1;
    const int status = back ? 0 : stop(k, late > 0);
    if (late > 0 && in) hopeless(in->impl, true);
    if (late > 0)
        snprintf(why, size, "has not returned after %.0f seconds: an endless loop, or a deadlock?",
                 late);
    else if (!back)
        crash_describe_end(record, status, why, size);
    if (!back) return false;
    if (byte == calls && record->state == CALL_RETURNED) return true;
    return snprintf(why, size, "wrote to files that are not its own"), false;
}

static int threads_had; /* number of threads of the last call's process */

int isolate_threads(void) {
    return threads_had;
}

const char *isolate_batch(void) {
    return record->batches ? record->batch : NULL;
}

bool isolate_call(const instance *in, int threads, char *why, size_t size) {
    const bool fresh = !in->shared || !is_in_table(in->impl);
    child alone = {0}, *k = fresh ? &alone : &servers[nl_is_own(in->impl)];
    if (hopeless(in->impl, false))
        return snprintf(why, size, "was not called: it did not return on %d cases", TIMES_OUT),
               false;
    if (!ready() || (!k->pid && !start(k)))
        return snprintf(why, size, "cannot start a process"), false;
    worker_fill(record, in, threads);
    bool failed = !send_request(k, in, threads, why, size) || describe_return(record, why, size);
    failed = describe_output(failed, why, size);
    threads_had = failed ? 0 : worker_threads(k->pid);
    if (failed || fresh) stop(k, failed);
    return !failed;
}

size_t isolate_scratch(const nl_impl *impl, const nl_problem *p) {
    static size_t bytes;
    static nl_problem last;
    static bool known;
    char why[320];
    child *k = &servers[nl_is_own(impl)];
    if (known && memcmp(&last, p, sizeof last) == 0) return bytes;
    if (!ready() || (!k->pid && !start(k))) return SIZE_MAX;
    *record = (call_record){.c = {.problem = *p}, .impl = *impl, .request = REQUEST_SCRATCH};
    known = send_request(k, NULL, 1, why, sizeof why);
    if (!known) return stop(k, true), SIZE_MAX;
    memcpy(&last, p, sizeof last);
    return bytes = record->scratch_bytes;
}

#ifdef __linux__

void orphans_adopt(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* In /proc/PID/stat, the parent's id is the second field after the name in parentheses. */
static bool is_child(const char *pid) {
    char path[300], line[600] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.200s/stat", pid);
    FILE *f = fopen(path, "r");
    if (f && !fgets(line, sizeof line, f)) *line = '\0';
    if (f) fclose(f);
    const char *end = strrchr(line, ')');
    return end && sscanf(end, ") %*c %d", &parent) == 1 && parent == getpid();
}

void orphans_end(void) {
    for (bool more = true; more;) { /* when a child ends, this process adopts its children */
        DIR *all = opendir("/proc");
        more = false;
        for (const struct dirent *one; all && (one = readdir(all));) {
            const int pid = atoi(one->d_name);
            if (pid <= 0 || !is_child(one->d_name)) continue;
            kill(pid, SIGKILL);
            more = waitpid(pid, NULL, 0) == pid || more;
        }
        if (all) closedir(all);
    }
}

#else

void orphans_adopt(void) {
}

void orphans_end(void) {
}

#endif
