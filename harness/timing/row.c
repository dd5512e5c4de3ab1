/* SPDX-License-Identifier: MIT */
#include "timing/row.h"

#include <math.h>

static size_t fastest_limit(const measure *m, const yardstick *by) {
    size_t fastest = by->limit;
    for (size_t i = fastest + 1; i < by->limit + by->limits; i++)
        if (measure_time(m, i).median < measure_time(m, fastest).median) fastest = i;
    return fastest;
}

timing timing_read(const measure *m, size_t candidate, const yardstick *by) {
    const size_t fastest = fastest_limit(m, by),
                 shown = by->streaming ? by->limit + by->limits - 1 : fastest;
    timing t = {.ns = measure_time(m, candidate),
                .ns_min = INFINITY,
                .rounds = m->rounds,
                .calls = m->calls,
                .stopped = stopped_name(m->stopped),
                .baseline = by->baseline,
                .log_ratio = measure_ratio(m, candidate, m->baseline),
                .band = stats_band(measure_ratio(m, by->again, m->baseline))};
    for (size_t r = 0; r < m->rounds; r++)
        t.ns_min = fmin(t.ns_min, m->ns[r * m->count + candidate]);
    t.verdict = stats_verdict(t.log_ratio, t.band, by->margin);
    t.rounds_to_go = stats_rounds_to_go(t.log_ratio, t.band, by->margin, m->rounds);
    t.limit_gbps = by->bytes / measure_time(m, shown).median;
    t.limit_pct = 100 * exp(-measure_ratio(m, candidate, shown).median);
    t.impossible = stats_impossible(measure_ratio(m, candidate, fastest), t.band, by->margin);
    return t;
}
