/* Any number of threads is legal. More threads than the machine can start give the bits of one
 * thread, and do not end the process. SPDX-License-Identifier: MIT */
#include "jobs.h"
#include "parallel.h"
#include "trial.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(threads, .init = one_thread);

/* Every threaded implementation must give one thread's bits. Returns how many were called. */
static int compare(int threads) {
    int called = 0;
    for (size_t i = 0; i < nl_impl_count() * JOBS; i++) {
        const nl_impl *m = nl_impl_at(i / JOBS);
        const struct job *job = &jobs[i % JOBS];
        char text[160];
        const bool batch = job->op == NL_BATCHNORM;
        nl_problem p = {.op = job->op, .pass = job->pass, .s = 1};
        p.n = batch ? 4097 : 70001, p.c = batch ? 33 : 3;
        if (!m->threaded || !computes(m, &p)) continue;
        snprintf(text, sizeof text, "%s/normal", spelled(&p));
        trial one, many;
        trial_make_calls(&one, text), trial_make_calls(&many, text);
        trial_place(&one, m), trial_place(&many, m);
        trial_call(&one, 1), trial_call(&many, threads);
        if (!same_results(&one, &many))
            cr_assert_fail("%s@%s on %s: %d threads give other bits", m->name, m->isa, text,
                           threads);
        trial_end(&one), trial_end(&many);
        called++;
    }
    return called;
}

Test(threads, more_than_any_machine_has) {
    static const int many[] = {65, 4097, 100000, INT_MAX};
    for (int i = 0; i < 4; i++) cr_assert(compare(many[i]) > 0, "no threaded implementation");
}

Test(threads, at_least_64_may_be_asked_for) {
    if (!nl_has_openmp()) cr_skip_test("built without OpenMP");
    use_threads(64);
    cr_assert(nl_max_threads() == 64, "%d", nl_max_threads());
}

/* The number of threads of this process: OpenMP keeps its threads alive. 0: unknown. */
static int running(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *e; tasks && (e = readdir(tasks));) count += e->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return count;
}

Test(threads, one_starts_none) {
    const int before = running();
    if (!before) cr_skip_test("no /proc");
    for (size_t i = 0; i < nl_impl_count() * JOBS; i++) {
        const nl_impl *m = nl_impl_at(i / JOBS);
        const struct job *job = &jobs[i % JOBS];
        char text[160];
        nl_problem p = {.op = job->op, .pass = job->pass, .n = 4097, .c = 31, .s = 1};
        if (!computes(m, &p)) continue;
        snprintf(text, sizeof text, "%s/normal", spelled(&p));
        trial t;
        trial_make_calls(&t, text);
        trial_place(&t, m), trial_call(&t, m->threaded ? 1 : 2);
        if (running() > before) cr_assert_fail("%s@%s starts a thread", m->name, m->isa);
        trial_end(&t);
    }
}

static void add_up(void *sum, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) __atomic_fetch_add((size_t *)sum, i, __ATOMIC_RELAXED);
}

/* fork() copies only the calling thread. In the child, OpenMP's runtime would wait for the other
 * threads forever. */
Test(threads, a_child_of_fork_computes_alone) {
    size_t sum = 0;
    int status;
    nl_parallel_for(100, 2, add_up, &sum);
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        nl_parallel_for(100, 2, add_up, &sum);
        _exit(sum == 2 * 4950 ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    cr_assert_eq(sum, 4950);
}

/* MiB of address space of this process; 0: unknown. */
static size_t mapped(void) {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%zu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE) >> 20;
}

/* A thread that is not joined keeps its stack of 8 MiB. */
Test(threads, those_that_try_are_joined) {
    if (!nl_has_openmp() || !mapped()) cr_skip_test("built without OpenMP, or no /proc");
    nl_team(64);
    const size_t before = mapped();
    for (int threads = 65; threads <= 128; threads++) nl_team(threads);
    cr_assert(mapped() < before + 256, "%zu MiB, before %zu", mapped(), before);
}

static void *nothing(void *context) {
    return context;
}

/* Allows no further process or thread to this user; root first becomes a user without processes. */
static void limit_processes(void) {
    const struct rlimit none = {1, 1};
    pthread_t thread;
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0))
        cr_skip_test("the number of processes cannot be limited");
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) {
        pthread_join(thread, NULL);
        cr_skip_test("the limit on processes is not enforced");
    }
}

Test(threads, none_can_be_started) {
    if (!nl_has_openmp()) cr_skip_test("built without OpenMP");
    nl_forward(NULL, NULL, NULL, 1); /* replaces the message */
    limit_processes();
    cr_assert(compare(8) > 0, "no threaded implementation");
    cr_assert(strstr(nl_message(), "cannot start 8 threads: it used 1"), "\"%s\"", nl_message());
}
