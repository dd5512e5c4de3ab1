/* OpenMP threads; without OpenMP, one thread. SPDX-License-Identifier: MIT */
#include "parallel.h"
#include "message.h"
#include "normlab.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>

static int least(int a, int b) {
    return a < b ? a : b;
}

/* The largest number of threads for one call. More do not help, and OpenMP's runtime puts an array
 * with an element per thread on the stack. */
static int most_threads(void) {
    const int four_each = 4 * omp_get_num_procs();
    return least(omp_get_thread_limit(), four_each > 64 ? four_each : 64);
}

static void *wait_at(void *gate) {
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* OpenMP's runtime ends the process if it cannot start a thread, so this function first starts
 * plain threads as a test: twice the needed number, since the system may still count threads that
 * have just ended. */
static bool can_start(int threads) {
    const size_t count = 2 * (size_t)(threads - 1);
    size_t started = 0;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *all = malloc(count * sizeof *all);
    pthread_mutex_lock(&gate);
    while (all && started < count && !pthread_create(&all[started], NULL, wait_at, &gate))
        started++;
    pthread_mutex_unlock(&gate);
    for (size_t i = 0; i < started; i++) pthread_join(all[i], NULL);
    free(all);
    return started == count;
}

/* A child of fork() has only the thread that forked. OpenMP's runtime would wait forever for the
 * parent's other threads. */
static bool lost_its_team(void) {
    static _Thread_local pid_t owner;
    if (!owner) owner = getpid();
    return owner != getpid();
}
#endif

/* Each calling thread has its own team, which is tested again only if a call wants more threads. */
int nl_team(int threads) {
#ifdef _OPENMP
    static _Thread_local int asked = 1, most = 1, granted = 1;
    if (threads > 1 && lost_its_team()) {
        nl_note("a child of fork() cannot use its parent's threads: it used 1 of %d", threads);
        return 1;
    }
    if (threads > asked) {
        asked = threads, most = granted = least(threads, most_threads());
        while (granted > 1 && !can_start(granted)) granted /= 2;
    }
    if (granted < least(threads, most))
        nl_note("this process cannot start %d threads: it used %d", least(threads, most), granted);
    return least(threads, granted);
#else
    (void)threads;
    return 1;
#endif
}

int nl_max_threads(void) {
#ifdef _OPENMP
    return least(omp_get_max_threads(), most_threads());
#else
    return 1;
#endif
}

bool nl_has_openmp(void) {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

void nl_parallel_for(size_t n, int threads, void (*body)(void *, size_t, size_t), void *context) {
    const size_t most = threads < 1 ? 1 : (size_t)threads;
    const size_t pieces = n ? (size_t)nl_team((int)(n < most ? n : most)) : 0;
    if (pieces == 1) { /* avoids a parallel region, which costs a fraction of a microsecond */
        body(context, 0, n);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads((int)pieces)
#endif
    for (size_t i = 0; i < pieces; i++) {
        size_t size = n / pieces, rest = n % pieces; /* the first `rest` pieces are larger by 1 */
        size_t begin = i * size + (i < rest ? i : rest);
        body(context, begin, begin + size + (i < rest));
    }
}
