/* SPDX-License-Identifier: MIT */
#include "timing/race.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "timing/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t race_seed = 1;

static bool is_right(arm *a, char *why, size_t why_size) {
    verdict v = a->after.outcome == OUTCOME_FAIL ? a->after : arm_verify(a);
    if (v.outcome == OUTCOME_FAIL)
        snprintf(why, why_size, "%s@%s on %s: %s", a->impl[a->which]->name, a->impl[a->which]->isa,
                 a->on[a->which]->c.text, v.why);
    return v.outcome != OUTCOME_FAIL;
}

typedef struct passes {
    const fixture *on;
    const mode *m;
} passes;

/* Makes the passes that RMSNorm saves, over tensors in scratch or over a row in the cache. */
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

bool race_pair(arm *a, arm *b, const mode *saved_by, double seconds, race_result *out, char *why,
               size_t why_size) {
    if (!is_right(a, why, why_size) || !is_right(b, why, why_size)) return false;
    passes q = {a->on[0], saved_by};
    const measure_arm arms[] = {arm_measured(a),
                                arm_measured(b),
                                arm_measured(a),
                                {.call = call_passes, .context = &q}};
    bool timed = saved_by && (saved_by->reads || saved_by->copies);
    measure m = {.arms = arms, .count = 3 + timed, .seed = race_seed, .precision = 0.005};
    m.clock = clock_ns, m.interrupted = interrupted;
    m.seconds = seconds * (double)m.count;
    bool ok = measure_run(&m);
    *out = (race_result){.ratio = measure_ratio(&m, 1, 0),
                         .aa = measure_ratio(&m, 2, 0).median,
                         .band = stats_band(measure_ratio(&m, 2, 0)),
                         .passes = {-INFINITY, -INFINITY, -INFINITY},
                         .ns = {measure_time(&m, 0).median, measure_time(&m, 1).median},
                         .rounds = m.rounds};
    if (timed) out->passes = measure_ratio(&m, 3, 0);
    measure_free(&m);
    if (!ok) return snprintf(why, why_size, "out of memory"), false;
    return is_right(a, why, why_size) && is_right(b, why, why_size);
}

/* The arm of one side of a mode: its implementations and their fixtures. */
static bool make_arm(fixtures *all, const mode *m, int side, const char *tail, arm *out, char *why,
                     size_t why_size) {
    static const char *const layers[] = {"layernorm", "rmsnorm"}, *const passes[] = {"forward",
                                                                                     "backward"};
    bool both = strncmp(tail, "both/", 5) == 0;
    *out = (arm){.threads = mode_threads(m)};
    for (int i = 0; i < 1 + both; i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "%s/%s%s", layers[side], both ? passes[i] : "",
                 both ? tail + 4 : tail);
        if (!(out->on[i] = fixtures_get(all, text, why, why_size))) return false;
        out->impl[i] = mode_impl(m, side, &out->on[i]->c.problem);
        if (out->impl[i]) continue;
        snprintf(why, why_size, "no %s runs %s here", m->impl[side], text);
        return false;
    }
    return true;
}

bool race_mode(fixtures *all, const mode *m, const char *tail, double seconds, race_result *out,
               char *why, size_t why_size) {
    arm a, b;
    return make_arm(all, m, 0, tail, &a, why, why_size) &&
           make_arm(all, m, 1, tail, &b, why, why_size) &&
           race_pair(&a, &b, strncmp(tail, "forward/", 8) == 0 ? m : NULL, seconds, out, why,
                     why_size);
}
