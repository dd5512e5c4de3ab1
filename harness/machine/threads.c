/* What threads cost, and whether all of them calculate alike. SPDX-License-Identifier: MIT */
#include "machine/parts.h"
#include "machine/machine.h"

#include <time.h>

static void subnormals(exam *e) {
    int flush = 0, workers = 0;
    bool here = doctor_flushes_subnormals();
#ifdef _OPENMP
#pragma omp parallel num_threads(e->threads) reduction(+ : flush, workers)
    {
        flush += doctor_flushes_subnormals();
        workers++;
    }
#else
    flush = here, workers = 1;
#endif
    bool kept = !here && flush == 0;
    doctor_say(e, "subnormals", kept ? DOCTOR_GOOD : DOCTOR_BAD,
               kept
                   ? NULL
                   : "FTZ or DAZ is set: do not link with -ffast-math, nor load a library that was",
               "%s in this thread, %s in %d of %d threads", here ? "flushed to zero" : "kept",
               flush ? "flushed" : "kept", flush ? flush : workers, workers);
}

#ifdef _OPENMP
static double empty_region(int threads) {
    double begin = clock_ns();
#pragma omp parallel num_threads(threads)
    __asm__ volatile("" ::: "memory"); /* or the compiler removes the region */
    return clock_ns() - begin;
}

/* On a crowded machine a region can take milliseconds, so both loops have a deadline. */
static void openmp(exam *e) {
    enum { HOT = 400, IDLE = 9 };
    const struct timespec pause = {.tv_nsec = 5000000};
    double hot[HOT], idle[IDLE], begin = clock_ns();
    int hots = 0, idles = 0;
    empty_region(e->threads);
    do hot[hots++] = empty_region(e->threads);
    while (hots < HOT && clock_ns() - begin < 2e7);
    begin = clock_ns();
    do {
        nanosleep(&pause, NULL);
        idle[idles++] = empty_region(e->threads);
    } while (idles < IDLE && clock_ns() - begin < 5e7);
    double us_hot = doctor_quantile(hot, hots, 0.5) / 1e3;
    double us_idle = doctor_quantile(idle, idles, 0.5) / 1e3;
    doctor_level level = us_hot > 50                            ? DOCTOR_BAD
                         : us_idle > 10 && us_idle > 5 * us_hot ? DOCTOR_NOTE
                                                                : DOCTOR_GOOD;
    doctor_say(e, "openmp", level,
               level == DOCTOR_BAD ? "More threads than idle CPUs: stop other work, or --threads 1"
               : level == DOCTOR_NOTE ? "Sleeping threads are slow to wake, which is part of the "
                                        "first call after a pause: OMP_WAIT_POLICY=active"
                                      : NULL,
               "an empty region of %d thread%s takes %.2f us hot, %.1f us after 5 ms idle",
               e->threads, e->threads == 1 ? "" : "s", us_hot, us_idle);
}
#else
static void openmp(exam *e) {
    doctor_say(e, "openmp", DOCTOR_UNKNOWN, "Build with NORMLAB_OPENMP=ON to measure threads",
               "built without OpenMP: 1 thread");
}
#endif

void doctor_threads(exam *e) {
    subnormals(e);
    openmp(e);
}
