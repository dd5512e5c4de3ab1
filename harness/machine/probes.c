/* Measures one thread (clock, frequency, interruptions), then the cost of threads, and tests
 * whether any thread flushes subnormals. SPDX-License-Identifier: MIT */
#include "machine/exam.h"
#include "base/clock.h"
#include "base/stats.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static void timer(exam *e) {
    enum { BATCHES = 10, READS = 1000 };
    struct timespec resolution = {0};
    double step = HUGE_VAL, cost = HUGE_VAL;
    clock_getres(CLOCK_MONOTONIC, &resolution);
    for (int b = 0; b < BATCHES; b++) { /* keeps the fastest batch: slow ones may be interrupted */
        double begin = clock_ns(), last = begin;
        for (int i = 0; i < READS; i++) {
            double now = clock_ns();
            if (now > last) step = fmin(step, now - last);
            last = now;
        }
        cost = fmin(cost, (last - begin) / READS);
    }
    finding_level level = cost > 1000                 ? FINDING_BAD
                          : cost > 100 || step > 1000 ? FINDING_NOTE
                                                      : FINDING_GOOD;
    exam_add(e, "timer", level,
             "Each measured time includes a clock read: see clocksource; measure longer calls",
             "CLOCK_MONOTONIC: a read costs %.0f ns, smallest step %.0f ns, resolution %.0f ns",
             cost, step, 1e9 * (double)resolution.tv_sec + (double)resolution.tv_nsec);
}

#if defined __OPTIMIZE__ && defined __GNUC__ && (defined __x86_64__ || defined __aarch64__)
enum { CHAIN = 1 << 14, MULTIPLY_CYCLES = 3 };

/* Cycles in a nanosecond, from a chain of multiplications. A chain of additions would not do: some
 * processors fold additions of constants before an arithmetic unit sees them. */
static double chain_ghz(void) {
    static uint64_t seed = 1;
    uint64_t x = seed;
    const uint64_t odd = UINT64_C(6364136223846793005);
    double begin = clock_ns();
    for (int i = 0; i < CHAIN; i++) {
        x *= odd;
        __asm__ volatile("" : "+r"(x)); /* keeps the compiler from merging two multiplications */
    }
    double ns = clock_ns() - begin;
    seed = x; /* uses the result, so that the compiler keeps the chain */
    return MULTIPLY_CYCLES * CHAIN / ns;
}

static void frequency(exam *e) {
    enum { READINGS = 1000 };
    static double ghz[READINGS];
    int n = 0;
    double begin = clock_ns();
    while (clock_ns() - begin < 5e6) chain_ghz(); /* lets the frequency rise first */
    for (begin = clock_ns(); n < READINGS && clock_ns() - begin < 3e7; n++) ghz[n] = chain_ghz();
    double middle = stats_quantile(ghz, (size_t)n, 0.5);
    double spread =
        (stats_quantile(ghz, (size_t)n, 0.9) - stats_quantile(ghz, (size_t)n, 0.1)) / middle;
    exam_add(e, "frequency", spread > 0.05 ? FINDING_NOTE : FINDING_GOOD,
             "Speed changes while we measure: see `governor`, `turbo` and `others`; compare only "
             "what was measured in turns",
             "%.2f GHz if a 64-bit multiplication takes %d cycles; spread %.1f %% (10th to 90th "
             "percentile of %d readings)",
             middle, MULTIPLY_CYCLES, 100 * spread, n);
}
#else
static void frequency(exam *e) {
    exam_add(e, "frequency", FINDING_UNKNOWN, NULL,
             "estimated only on x86-64 and AArch64, in an optimized build");
}
#endif

/* Finds the gaps in which a thread that only reads the clock did not run. */
static void interruptions(exam *e) {
    const double span = 2e7, least = 1e4;
    double begin = clock_ns(), last = begin, lost = 0, longest = 0;
    int gaps = 0;
    while (last - begin < span) {
        double now = clock_ns(), gap = now - last;
        if (gap > least) gaps++, lost += gap;
        if (gap > longest) longest = gap;
        last = now;
    }
    double share = lost / (last - begin);
    finding_level level = share > 0.05 ? FINDING_BAD : share > 0.005 ? FINDING_NOTE : FINDING_GOOD;
    exam_add(e, "interruptions", level,
             "See `load`, `others` and `steal`; repeat more, and take medians",
             "%d longer than 10 us in %.0f ms: %.1f %% of the time; the longest %.0f us", gaps,
             (last - begin) / 1e6, 100 * share, longest / 1e3);
}

void examine_probes(exam *e) {
    timer(e);
    frequency(e);
    interruptions(e);
}

/* Inspects the bits, because even a comparison may treat a subnormal as zero. */
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
             "FTZ or DAZ is set: link without -ffast-math, and load no library linked with it",
             "%s in this thread, %s in %d of %d threads", here ? "flushed to zero" : "kept",
             flush ? "flushed" : "kept", flush ? flush : workers, workers);
}

#ifdef _OPENMP
static double empty_region(int threads) {
    double begin = clock_ns();
#pragma omp parallel num_threads(threads)
    __asm__ volatile("" ::: "memory"); /* keeps the compiler from removing the region */
    return clock_ns() - begin;
}

/* On a busy machine a parallel region can take milliseconds, so both loops have a deadline. */
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
                                  : "Sleeping threads wake slowly and delay the first call after a "
                                    "pause: OMP_WAIT_POLICY=active",
             "an empty parallel region of %d thread%s takes %.2f us hot, %.1f us after 5 ms idle",
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
