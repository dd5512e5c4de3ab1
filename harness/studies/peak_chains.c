/* How fast are multiply-adds if nothing is loaded? One chain of multiply-adds waits for each
 * result; several chains hide that latency, until all units are busy.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "normlab.h"
#include "studies/study.h"
#include "timing/limit.h"

enum { TRIES = 20 };

#define LIMIT_ENTRY(isa) double peak_##isa(size_t steps, int chains);
#include "limit.inc"
#undef LIMIT_ENTRY

static const struct way {
    const char *isa;
    double (*run)(size_t steps, int chains);
} ways[] = {
#define LIMIT_ENTRY(isa) {#isa, peak_##isa},
#include "limit.inc"
#undef LIMIT_ENTRY
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The best Gflop/s of several trials: disturbances make a chain slower, never faster than the
 * machine. */
static double rate(const struct way *way, int chains, size_t steps) {
    double most = 0;
    for (int t = 0; t < TRIES; t++) {
        double begin = clock_ns(), flops = way->run(steps, chains), ns = clock_ns() - begin;
        if (ns > 0 && flops / ns > most) most = flops / ns;
    }
    return most;
}

static bool run(study_out *o, bool quick) {
    static const int chains[] = {1, 2, 4, 8, PEAK_CHAINS};
    for (size_t i = 0; i < WAYS; i++)
        for (size_t k = 0; k < sizeof chains / sizeof *chains && nl_isa_runs(ways[i].isa); k++)
            study_point(o, "one thread", ways[i].isa, chains[k],
                        rate(&ways[i], chains[k], quick ? 100000 : 1000000));
    return true;
}

const study study_peak = {"peak", "How many flops a second are possible without loads and stores?",
                          run};
