/* Stages, and races on them. SPDX-License-Identifier: MIT */
#include "timing/race.h"
#include "timing/bench.h"
#include "machine/machine.h"
#include "timing/partial.h"
#include "timing/limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void stage_free(stage *s) {
    instance_free(&s->in);
    answer_free(&s->want);
    answer_free(&s->partial);
    data_free(&s->data);
}

void stages_free(stages *all) {
    for (size_t i = 0; i < all->count; i++) stage_free(&all->at[i]);
    all->count = 0;
}

/* What follows the layer and the pass. */
static const char *kind_of(const char *text) {
    const char *slash = strchr(text, '/');
    slash = slash ? strchr(slash + 1, '/') : NULL;
    return slash ? slash : text;
}

stage *stage_get(stages *all, const char *text, char *error, size_t error_size) {
    if (all->count == 8 || (all->count && strcmp(kind_of(all->at[0].c.text), kind_of(text)) != 0))
        stages_free(all);
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].c.text, text) == 0) return &all->at[i];
    stage *s = &all->at[all->count];
    size_t scratch = 0;
    *s = (stage){0};
    if (!case_parse(text, &s->c, error, error_size)) return NULL;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        if (!nl_accepts(nl_impl_at(i), &s->c.problem)) continue;
        size_t bytes = nl_scratch_bytes(nl_impl_at(i), &s->c.problem);
        if (bytes > scratch) scratch = bytes;
    }
    snprintf(error, error_size, "no memory for %s", text);
    if (data_make(&s->c, &s->data, error, error_size) && answer_make(&s->c, &s->data, &s->want) &&
        instance_make(&s->c, &s->data, NULL, scratch, PLACE_START, &s->in)) {
        all->count++;
        return s;
    }
    return stage_free(s), NULL;
}

verdict stage_judge(stage *s, const nl_impl *impl, int threads) {
    bool partial = impl == &partial_impl;
    if (partial && !s->partial.memory && !partial_answer(&s->c, &s->data, &s->partial))
        return failure("out of %s", "memory");
    s->in.impl = impl;
    instance_fill(&s->in);
    if (instance_call(&s->in, threads) != NL_OK) return failure("%s", nl_message());
    return outputs_check(&s->in, partial ? &s->partial : &s->want);
}

static bool is_right(racer *r, char *why, size_t why_size) {
    for (int i = 0; i < 2 && r->stage[i]; i++) {
        verdict v = stage_judge(r->stage[i], r->impl[i], r->threads);
        if (v.outcome != OUTCOME_FAIL) continue;
        snprintf(why, why_size, "%s@%s on %s: %s", r->impl[i]->name, r->impl[i]->isa,
                 r->stage[i]->c.text, v.why);
        return false;
    }
    return true;
}

static void call_racer(void *context, size_t turn) {
    racer *r = context;
    (void)turn;
    for (int i = 0; i < 2 && r->stage[i]; i++) {
        r->stage[i]->in.impl = r->impl[i];
        instance_call(&r->stage[i]->in, r->threads);
    }
}

typedef struct passes {
    const stage *s;
    const mode *m;
} passes;

/* Over the tensors that an unfused layer stores, or over rows that are in the cache. */
static void call_passes(void *context, size_t turn) {
    const passes *q = context;
    const nl_problem *p = &q->s->c.problem;
    size_t tensor = p->n * p->c * sizeof(float);
    char *a = q->s->in.scratch;
    (void)turn;
    if (q->m->copies) {
        for (int i = 0; i < q->m->copies; i++)
            limit_move(&(limit_job){{a}, {a + tensor}, 1, 1, tensor, LIMIT_ORDINARY}, 1);
        for (int i = 0; i < q->m->reads; i++)
            limit_move(&(limit_job){{a}, {NULL}, 1, 0, tensor, LIMIT_ORDINARY}, 1);
        return;
    }
    const limit_job row = {{q->s->in.at[NL_X]}, {NULL}, 1, 0, p->c * nl_dtype_bytes(p->dtype),
                           LIMIT_ORDINARY};
    for (size_t r = 0; r < p->n * (size_t)q->m->reads; r++) limit_move(&row, 1);
}

bool race_pair(racer *a, racer *b, const mode *model, double seconds, race_result *out, char *why,
               size_t why_size) {
    if (!is_right(a, why, why_size) || !is_right(b, why, why_size)) return false;
    passes q = {a->stage[0], model};
    const measure_arm arms[] = {{call_racer, a},
                                {call_racer, b},
                                {call_racer, a},
                                {call_passes, &q}};
    bool predicts = model && (model->reads || model->copies);
    measure m = {.arms = arms, .count = 3 + predicts, .seed = 1, .precision = 0.005};
    m.clock = clock_ns, m.interrupted = &bench_interrupted;
    m.seconds = seconds * (double)m.count;
    bool ok = measure_run(&m);
    *out = (race_result){.ratio = measure_ratio(&m, 1, 0),
                         .band = stats_band(measure_ratio(&m, 2, 0)),
                         .passes = {-INFINITY, -INFINITY, -INFINITY},
                         .ns = {measure_time(&m, 0).median, measure_time(&m, 1).median},
                         .rounds = m.rounds};
    if (predicts) out->passes = measure_ratio(&m, 3, 0);
    measure_free(&m);
    if (!ok) return snprintf(why, why_size, "out of memory"), false;
    return is_right(a, why, why_size) && is_right(b, why, why_size);
}

/* One side of a mode: its stages for the tail, and what runs on them. */
static bool enter(stages *all, const mode *m, int side, const char *tail, racer *out, char *why,
                  size_t why_size) {
    static const char *const layers[] = {"layernorm", "rmsnorm"};
    bool both = strncmp(tail, "both/", 5) == 0;
    *out = (racer){.threads = mode_threads(m)};
    for (int i = 0; i < 1 + both; i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "%s/%s%s", layers[side],
                 !both ? ""
                 : i   ? "backward"
                       : "forward",
                 both ? tail + 4 : tail);
        if (!(out->stage[i] = stage_get(all, text, why, why_size))) return false;
        out->impl[i] = mode_impl(m, side, &out->stage[i]->c.problem);
        if (out->impl[i]) continue;
        snprintf(why, why_size, "nothing called %s takes %s here", m->impl[side], text);
        return false;
    }
    return true;
}

bool race_mode(stages *all, const mode *m, const char *tail, double seconds, race_result *out,
               char *why, size_t why_size) {
    racer a, b;
    return enter(all, m, 0, tail, &a, why, why_size) && enter(all, m, 1, tail, &b, why, why_size) &&
           race_pair(&a, &b, strncmp(tail, "forward/", 8) == 0 ? m : NULL, seconds, out, why,
                     why_size);
}
