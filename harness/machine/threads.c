/* The cost of threads, and whether any of them flushes subnormals. SPDX-License-Identifier: MIT */
#include "machine/exam.h"
#include "base/clock.h"
#include "base/stats.h"

#include <float.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Inspects the bits, because a comparison may itself take a subnormal for zero. */
static bool flushes_subnormals(void) {
    volatile float least_normal = FLT_MIN, subnormal = FLT_TRUE_MIN, result;
    float f;
    uint32_t made, taken;
    result = least_normal * 0.5f;
    f = result, memcpy(&made, &f, sizeof made);
    result = subnormal * 0x1p100f;
    f = result, memcpy(&taken, &f, sizeof taken);
    return made == 0 || taken == 0;
}

static void subnormals(exam *e) {
    int flush = 0, workers = 0;
    bool here = flushes_subnormals();
#ifdef _OPENMP
#pragma omp parallel num_threads(e->threads) reduction(+ : flush, workers)
    {
        flush += flushes_subnormals();
        workers++;
    }
#else
    flush = here, workers = 1;
#endif
    bool kept = !here && flush == 0;
    exam_add(e, "subnormals", kept ? FINDING_GOOD : FINDING_BAD,
             "FTZ or DAZ is set: link without -ffast-math, and load no library that was",
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

/* On a busy machine a region can take milliseconds, so both loops have a deadline. */
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
    double us_hot = stats_quantile(hot, (size_t)hots, 0.5) / 1e3;
    double us_idle = stats_quantile(idle, (size_t)idles, 0.5) / 1e3;
    finding_level level = us_hot > 50                            ? FINDING_BAD
                          : us_idle > 10 && us_idle > 5 * us_hot ? FINDING_NOTE
                                                                 : FINDING_GOOD;
    exam_add(e, "openmp", level,
             level == FINDING_BAD ? "More threads than idle CPUs: stop other work, or --threads 1"
                                  : "Sleeping threads are slow to wake, which is part of the first "
                                    "call after a pause: OMP_WAIT_POLICY=active",
             "an empty region of %d thread%s takes %.2f us hot, %.1f us after 5 ms idle",
             e->threads, e->threads == 1 ? "" : "s", us_hot, us_idle);
}
#else
static void openmp(exam *e) {
    exam_add(e, "openmp", FINDING_UNKNOWN, "Build with NORMLAB_OPENMP=ON to measure threads",
             "built without OpenMP: 1 thread");
}
#endif

void examine_threads(exam *e) {
    subnormals(e);
    openmp(e);
}
