/* SPDX-License-Identifier: MIT */
#include "timing/row.h"

#include <math.h>

static size_t fastest_limit(const measure *m, const yardstick *by) {
    size_t fastest = by->limit;
    for (size_t i = fastest + 1; i < by->limit + by->limits; i++)
        if (measure_time(m, i).median < measure_time(m, fastest).median) fastest = i;
    return fastest;
}

timing timing_read(const measure *m, size_t arm, const yardstick *by) {
    const size_t fastest = fastest_limit(m, by),
                 shown = by->streaming ? by->limit + by->limits - 1 : fastest;
    timing t = {.ns = measure_time(m, arm),
                .ns_min = INFINITY,
                .rounds = m->rounds,
                .calls = m->calls,
                .stopped = stopped_name(m->stopped),
                .baseline = by->baseline,
                .log_ratio = measure_ratio(m, arm, m->baseline),
                .band = stats_band(measure_ratio(m, by->again, m->baseline))};
    for (size_t r = 0; r < m->rounds; r++) t.ns_min = fmin(t.ns_min, m->ns[r * m->count + arm]);
    t.verdict = stats_verdict(t.log_ratio, t.band, by->margin);
    t.rounds_to_go = stats_rounds_to_go(t.log_ratio, t.band, by->margin, m->rounds);
    t.limit_gbps = by->bytes / measure_time(m, shown).median;
    t.limit_pct = 100 * exp(-measure_ratio(m, arm, shown).median);
    t.impossible = stats_impossible(measure_ratio(m, arm, fastest), t.band, by->margin);
    return t;
}

static double middle(double *values, size_t n) {
    return stats_median(values, n, 0).median;
}

timing timing_merge(const timing *t, size_t n, double margin) {
    double ns[1000], ratio[1000], gbps[1000], pct[1000];
    timing all = t[0];
    for (size_t i = 0; i < n; i++) {
        ns[i] = t[i].ns.median, ratio[i] = t[i].log_ratio.median;
        gbps[i] = t[i].limit_gbps, pct[i] = t[i].limit_pct;
        all.ns.low = fmin(all.ns.low, t[i].ns.low), all.ns.high = fmax(all.ns.high, t[i].ns.high);
        all.log_ratio.low = fmin(all.log_ratio.low, t[i].log_ratio.low);
        all.log_ratio.high = fmax(all.log_ratio.high, t[i].log_ratio.high);
        all.band = fmax(all.band, t[i].band);
        all.ns_min = fmin(all.ns_min, t[i].ns_min);
        all.impossible = all.impossible && t[i].impossible;
        if (i > 0) all.rounds += t[i].rounds;
    }
    all.ns.median = middle(ns, n), all.log_ratio.median = middle(ratio, n);
    all.limit_gbps = middle(gbps, n), all.limit_pct = middle(pct, n);
    all.verdict = stats_verdict(all.log_ratio, all.band, margin);
    all.rounds_to_go = stats_rounds_to_go(all.log_ratio, all.band, margin, all.rounds);
    if (n > 1) all.stopped = "processes";
    return all;
}
