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

typedef struct passes {
    const fixture *on;
    const mode *m;
} passes;

/* Runs the passes that RMSNorm saves, over tensors in scratch or over a row in the cache. */
static void call_passes(void *context, size_t turn) {
    const passes *q = context;
    const nl_problem *p = &q->on->c.problem;
    size_t tensor = p->n * p->c * sizeof(float);
    const instance *in = q->on->in;
    char *a = in->scratch;
    (void)turn;
    if (q->m->copies) {
        for (int i = 0; i < q->m->copies; i++)
            limit_move(&(limit_job){{a}, {a + tensor}, 1, 1, tensor, {0}}, 1);
        for (int i = 0; i < q->m->reads; i++)
            limit_move(&(limit_job){{a}, {NULL}, 1, 0, tensor, {0}}, 1);
        return;
    }
    const limit_job row = {{in->at[NL_X]}, {NULL}, 1, 0, p->c * nl_dtype_bytes(p->dtype), {0}};
    for (size_t r = 0; r < p->n * (size_t)q->m->reads; r++) limit_move(&row, 1);
}

bool race_candidates(race *r, const measure_candidate *candidates, size_t count, race_result *out) {
    measure m = {.candidates = candidates,
                 .count = count,
                 .seconds = r->seconds * (double)count,
                 .precision = 0.005,
                 .seed = r->seed,
                 .clock = clock_ns,
                 .interrupted = interrupted};
    const bool ok = measure_run(&m);
    const estimate again = measure_ratio(&m, 2, 0), none = {-INFINITY, -INFINITY, -INFINITY};
    *out = (race_result){.ratio = measure_ratio(&m, 1, 0),
                         .aa = again.median,
                         .band = stats_band(again),
                         .passes = count > 3 ? measure_ratio(&m, 3, 0) : none,
                         .ns = {measure_time(&m, 0).median, measure_time(&m, 1).median},
                         .rounds = m.rounds};
    measure_free(&m);
    if (!ok) snprintf(r->why, sizeof r->why, "out of memory");
    return ok;
}

bool race_pair(race *r, candidate *a, candidate *b, const mode *saved_by, race_result *out) {
    if (!is_right(r, a) || !is_right(r, b)) return false;
    passes q = {a->on[0], saved_by};
    const measure_candidate candidates[] = {candidate_measured(a),
                                            candidate_measured(b),
                                            candidate_measured(a),
                                            {.call = call_passes, .context = &q}};
    const bool saves = saved_by && (saved_by->reads || saved_by->copies);
    return race_candidates(r, candidates, 3 + saves, out) && is_right(r, a) && is_right(r, b);
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
    const bool forward = strncmp(tail, "forward/", 8) == 0;
    candidate a, b;
    return make_candidate(r, m, 0, tail, &a) && make_candidate(r, m, 1, tail, &b) &&
           race_pair(r, &a, &b, forward ? m : NULL, out);
}

static double saving(double share, double r) {
    return -100 * share * expm1(r);
}

static double speedup(double share, double r) {
    (void)share;
    return exp(-r);
}

/* Saving and speed-up fall as the ratio rises, so the interval's ends swap. */
static estimate map_interval(double (*of)(double, double), double share, estimate r, double band) {
    return (estimate){of(share, r.median), of(share, r.high + band), of(share, r.low - band)};
}

static figure make(double (*of)(double, double), double share, estimate r, double band) {
    figure f = {map_interval(of, share, r, 0), map_interval(of, share, r, band), 0, 0};
    f.band = (f.wide.high - f.wide.low - (f.value.high - f.value.low)) / 2;
    return f;
}

figure figure_saving(double share, estimate log_ratio, double band) {
    return make(saving, share, log_ratio, band);
}

figure figure_speedup(double share, estimate log_ratio, double band) {
    return make(speedup, share, log_ratio, band);
}
