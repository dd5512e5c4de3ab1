/* SPDX-License-Identifier: MIT */
#include "timing/race.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "timing/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_right(race *r, candidate *a) {
    verdict v = a->after.outcome == OUTCOME_FAIL ? a->after : candidate_verify(a);
    if (v.outcome == OUTCOME_FAIL)
        snprintf(r->why, sizeof r->why, "%s@%s on %s: %s", a->impl[a->which]->name,
                 a->impl[a->which]->isa, a->on[a->which]->c.text, v.why);
    return v.outcome != OUTCOME_FAIL;
}

bool race_candidates(race *r, measure_candidate a, measure_candidate b, race_result *out) {
    const measure_candidate candidates[] = {a, b, a};
    measure m = {.candidates = candidates,
                 .count = 3,
                 .seconds = r->seconds * 3,
                 .precision = 0.005,
                 .seed = r->seed,
                 .clock = clock_ns,
                 .interrupted = interrupted};
    const bool ok = measure_run(&m);
    const estimate again = measure_ratio(&m, 2, 0);
    *out = (race_result){.ratio = measure_ratio(&m, 1, 0),
                         .aa = again.median,
                         .band = stats_band(again),
                         .ns = {measure_time(&m, 0).median, measure_time(&m, 1).median},
                         .quiet = measure_quiet(&m, 1, 0),
                         .quiet_aa = measure_quiet(&m, 2, 0).log_ratio,
                         .rounds = m.rounds};
    measure_free(&m);
    if (!ok) snprintf(r->why, sizeof r->why, "out of memory");
    return ok;
}

bool race_pair(race *r, candidate *a, candidate *b, race_result *out) {
    return is_right(r, a) && is_right(r, b) &&
           race_candidates(r, candidate_measured(a), candidate_measured(b), out) &&
           is_right(r, a) && is_right(r, b);
}

/* The candidate of one side of a mode: its implementations and their fixtures. */
static bool make_candidate(race *r, const mode *m, int side, const char *tail, candidate *out) {
    static const char *const layers[] = {"layernorm", "rmsnorm"}, *const passes[] = {"forward",
                                                                                     "backward"};
    bool both = strncmp(tail, "both/", 5) == 0;
    *out = (candidate){.threads = mode_threads(m)};
    for (int i = 0; i < 1 + both; i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "%s/%s%s", layers[side], both ? passes[i] : "",
                 both ? tail + 4 : tail);
        if (!(out->on[i] = fixtures_get(&r->all, text, r->why, sizeof r->why))) return false;
        out->impl[i] = mode_impl(m, side, &out->on[i]->c.problem);
        if (out->impl[i]) continue;
        snprintf(r->why, sizeof r->why, "no %s runs %s here", m->impl[side], text);
        return false;
    }
    return true;
}

bool race_mode(race *r, const mode *m, const char *tail, race_result *out) {
    candidate a, b;
    return make_candidate(r, m, 0, tail, &a) && make_candidate(r, m, 1, tail, &b) &&
           race_pair(r, &a, &b, out);
}

static double saving(double share, double r) {
    return -100 * share * expm1(r);
}

static double speedup(double share, double r) {
    (void)share;
    return exp(-r);
}

/* Saving and speed-up fall as the ratio rises, so the interval's ends swap. */
static figure make(double (*of)(double, double), double share, estimate r, double band) {
    const double middle = of(share, r.median);
    figure f = {.value = {middle, of(share, r.high), of(share, r.low)},
                .wide = {middle, of(share, r.high + band), of(share, r.low - band)}};
    f.band = (f.wide.high - f.wide.low - (f.value.high - f.value.low)) / 2;
    return f;
}

figure figure_saving(double share, estimate log_ratio, double band) {
    return make(saving, share, log_ratio, band);
}

figure figure_speedup(double share, estimate log_ratio, double band) {
    return make(speedup, share, log_ratio, band);
}
