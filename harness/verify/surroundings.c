/* SPDX-License-Identifier: MIT */
#include "verify/worker.h"
#include "platform/platform.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

/* State that a call must leave unchanged, besides memory and arithmetic. */
typedef struct surroundings {
    sigset_t blocked;
    struct rlimit limits[6];
    struct stat output[2];
    struct sigaction on_crash; /* another handler could hide a write outside the buffers */
#ifdef __linux__
    cpu_set_t cpus; /* processors of the calling thread */
#endif
} surroundings;

static surroundings usual;

static void look_around(surroundings *s) {
    static const int limits[] = {RLIMIT_DATA,  RLIMIT_AS,  RLIMIT_NOFILE,
                                 RLIMIT_STACK, RLIMIT_CPU, RLIMIT_NPROC};
    memset(s, 0, sizeof *s);
    pthread_sigmask(SIG_BLOCK, NULL, &s->blocked);
    for (int i = 0; i < 6; i++) getrlimit(limits[i], &s->limits[i]);
    for (int i = 0; i < 2; i++) fstat(i + 1, &s->output[i]);
    sigaction(SIGSEGV, NULL, &s->on_crash);
#ifdef __linux__
    sched_getaffinity(0, sizeof s->cpus, &s->cpus);
#endif
}

static bool timer_runs(void) {
    static const int timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    struct itimerval now;
    for (int i = 0; i < 3; i++)
        if (getitimer(timers[i], &now) == 0 && (now.it_value.tv_sec || now.it_value.tv_usec))
            return true;
    return false;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Is a part of the buffers no longer mapped? */
static bool memory_lost(const instance *in) {
    char *end = NULL;
    for (int i = 0; i <= NL_ARGS; i++) {
        if (!in->map[i]) continue;
        if (!in->shared && msync(in->map[i], in->map_bytes[i], MS_ASYNC) != 0) return true;
        if ((char *)in->map[i] + in->map_bytes[i] > end)
            end = (char *)in->map[i] + in->map_bytes[i];
    }
    return in->shared && end && msync(in->shared->base, end - in->shared->base, MS_ASYNC) != 0;
}

void surroundings_note(void) {
    look_around(&usual);
}

const char *surroundings_changed(const instance *in, bool own) {
    surroundings now;
    if (!arithmetic_is_usual()) return ARITHMETIC_CHANGED;
    if (own) return "";
    look_around(&now);
    if (memory_lost(in)) return "unmapped memory of the call's buffers";
    if (now.on_crash.sa_sigaction != usual.on_crash.sa_sigaction)
        return "left a handler of SIGSEGV, which would hide its crashes";
    if (memcmp(&now.blocked, &usual.blocked, sizeof now.blocked) != 0)
        return "changed which signals are blocked";
    if (timer_runs()) return "left a timer running";
    if (memcmp(now.limits, usual.limits, sizeof now.limits) != 0)
        return "changed the limits of the process";
#ifdef __linux__
    /* an OpenMP runtime may bind the threads of a threaded kernel */
    if (!in->impl->threaded && !CPU_EQUAL(&now.cpus, &usual.cpus))
        return "left the caller's thread bound to other processors";
#endif
    for (int i = 0; i < 2; i++)
        if (!same_file(&now.output[i], &usual.output[i]))
            return "closed or replaced files that are not its own";
    return "";
}
