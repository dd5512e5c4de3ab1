/* The candidates of a case: every implementation that is right on the case, the baseline again (its
 * difference from itself is noise), and the machine's limit on the same buffers.
 * SPDX-License-Identifier: MIT */
#include "timing/bench.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "best.h"
#include "platform/platform.h"
#include "timing/candidate.h"
#include "timing/limit.h"
#include "verify/isolate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 1024 }; /* a set takes about 30 memory mappings; a process may have 65530 */

typedef struct bench {
    const nl_case *c;
    const bench_settings *o;
    int threads;
    fixture f;
    candidate *candidates; /* the implementations, then the baseline again */
    row *rows;             /* [impls] */
    size_t impls;
    limit_candidate limits[2];
} bench;

/* The number of sets of buffers: 1 or, if rotating, enough to fill the last-level cache twice. */
static size_t sets_wanted(const bench *b) {
    size_t set = case_bytes(b->c), wanted = 1;
    char text[CASE_TEXT + 100];
    if (b->c->cache == CACHE_ROTATING) wanted = 2 * last_cache_bytes() / (set ? set : 1) + 2;
    if (wanted <= SETS_MAX) return wanted;
    snprintf(text, sizeof text,
             "%s: rotates through %d sets of %zu bytes, less than twice the cache", b->c->text,
             SETS_MAX, set);
    if (b->o->note) b->o->note(b->o->context, text);
    return SETS_MAX;
}

static size_t scratch_wanted(const bench *b) {
    size_t most = 0;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (!nl_isa_runs(m->isa) || !b->o->selects(b->o->context, m, b->c)) continue;
        size_t bytes = nl_scratch_bytes(m, &b->c->problem);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Collects the implementations; reports implementations that cannot run here as skipped. */
static void collect(bench *b) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (!b->o->selects(b->o->context, m, b->c)) continue;
        bool crowded = b->threads > nl_max_threads();
        row line = {.c = b->c,
                    .impl = m->name,
                    .isa = m->isa,
                    .scratch_bytes = nl_isa_runs(m->isa) ? nl_scratch_bytes(m, &b->c->problem) : 0,
                    .threads = nl_plan_of(m, &b->c->problem, b->threads).threads};
        line.v.outcome = OUTCOME_SKIP;
        if (crowded)
            snprintf(line.v.why, sizeof line.v.why, "%d threads, but this machine runs %d",
                     b->threads, nl_max_threads());
        else
            snprintf(line.v.why, sizeof line.v.why, "this processor has no %s", m->isa);
        if (crowded || !nl_isa_runs(m->isa)) {
            b->o->row(b->o->context, &line);
            continue;
        }
        b->candidates[b->impls] = (candidate){.on = {&b->f}, .impl = {m}, .threads = line.threads};
        b->candidates[b->impls].unnamed = b->o->unnamed && b->o->unnamed(b->o->context, m);
        b->rows[b->impls++] = line;
    }
}

/* Calls the implementation in a child process. A large case is not copied into shared memory, so
 * its call shows only crashes; candidate_verify() checks the values later. */
static verdict guarded(const bench *b, const candidate *a) {
    enum { LARGE = 1 << 21 };
    const nl_problem *p = &b->c->problem;
    const fixture *f = &b->f;
    verdict v = {.outcome = OUTCOME_OK};
    if (p->n * p->c * p->s <= LARGE) {
        for (placement at = PLACE_END; at <= PLACE_START && v.outcome != OUTCOME_FAIL; at++)
            v = verify(b->c, &f->data, &f->want, a->impl[0], at, a->threads);
        return v;
    }
    f->in->impl = a->impl[0];
    instance_fill(f->in);
    return isolate_call(f->in, a->threads, v.why, sizeof v.why) ? v : failure("%s", v.why);
}

/* Keeps the right candidates; reports and drops the wrong ones. */
static void verify_candidates(bench *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->impls; i++) {
        b->rows[i].v = guarded(b, &b->candidates[i]);
        if (b->rows[i].v.outcome != OUTCOME_FAIL)
            b->rows[i].v = candidate_verify(&b->candidates[i]);
        if (b->rows[i].v.outcome == OUTCOME_FAIL)
            b->o->row(b->o->context, &b->rows[i]);
        else
            b->rows[kept] = b->rows[i], b->candidates[kept++] = b->candidates[i];
    }
    b->impls = kept;
    isolate_end(); /* ends the other process before the timing */
}

static size_t find_baseline(const bench *b) {
    for (size_t i = 0; i < b->impls; i++) {
        const nl_impl *m = b->candidates[i].impl[0];
        const char *slash = strrchr(m->name, '/');
        if (b->o->is_baseline ? b->o->is_baseline(b->o->context, m, b->c)
                              : slash && strcmp(slash, "/naive") == 0)
            return i;
    }
    return 0;
}

/* The candidate's name in the file of rounds. */
static bench_round name_candidate(const bench *b, size_t i) {
    static const char *const others[] = {"(baseline again)", "(limit)", "(streaming limit)"};
    const nl_impl *impl = i <= b->impls ? b->candidates[i].impl[0] : NULL;
    return (bench_round){.c = b->c,
                         .impl = i < b->impls ? impl->name : others[i - b->impls],
                         .isa = impl ? impl->isa : "-",
                         .threads = impl ? b->candidates[i].threads : b->threads};
}

static void report_rounds(const bench *b, const measure *m) {
    for (size_t r = 0; b->o->round && r < m->rounds; r++)
        for (size_t i = 0; i < m->count; i++) {
            bench_round line = name_candidate(b, i);
            line.round = r, line.calls = m->calls;
            line.position = m->position[r * m->count + i], line.ns = m->ns[r * m->count + i];
            b->o->round(b->o->context, &line);
        }
}

static bool time_candidates(bench *b) {
    const bench_settings *o = b->o;
    const size_t baseline = find_baseline(b);
    b->candidates[b->impls] = b->candidates[baseline];
    const yardstick by = {.baseline = b->candidates[baseline].impl[0]->name,
                          .again = b->impls,
                          .limit = b->impls + 1,
                          .limits = limit_candidates_make(&b->f, b->threads, b->limits),
                          .streaming = b->c->streaming,
                          .bytes = (double)case_bytes(b->c),
                          .margin = o->margin};
    const size_t count = by.limit + by.limits;
    measure_candidate *calls = malloc(count * sizeof *calls);
    for (size_t i = 0; calls && i < count; i++)
        calls[i] = i < by.limit ? candidate_measured(&b->candidates[i])
                                : limit_candidate_measured(&b->limits[i - by.limit]);
    measure m = {.candidates = calls,
                 .count = count,
                 .baseline = baseline,
                 .seconds = o->seconds * (double)count,
                 .precision = o->precision,
                 .seed = 1,
                 .clock = clock_ns,
                 .interrupted = interrupted};
    const bool measured = calls && measure_run(&m);
    if (measured) report_rounds(b, &m);
    for (size_t i = 0; i < b->impls; i++) {
        row *line = &b->rows[i];
        verdict after = b->candidates[i].after;
        if (i == baseline && after.outcome != OUTCOME_FAIL) after = b->candidates[b->impls].after;
        if (after.outcome != OUTCOME_FAIL) after = candidate_verify(&b->candidates[i]);
        if (after.outcome == OUTCOME_FAIL) { /* right before the timing, but wrong after it */
            line->v = after;
        } else if (measured && m.rounds) {
            line->timed = true, line->is_baseline = i == baseline;
            line->t = timing_read(&m, i, &by);
        }
        o->row(o->context, line);
    }
    measure_free(&m);
    free(calls);
    return measured || interrupted();
}

bool bench_case(const nl_case *c, const bench_settings *o, char *error, size_t error_size) {
    bench b = {.c = c, .o = o, .threads = c->threads ? c->threads : o->threads};
    size_t most = nl_impl_count() + 1;
    snprintf(error, error_size, "no memory");
    b.candidates = calloc(most, sizeof *b.candidates), b.rows = calloc(most, sizeof *b.rows);
    bool ok = b.candidates && b.rows;
    if (ok) collect(&b);
    if (ok && b.impls > 0)
        ok = fixture_make(NULL, &b.f, c, scratch_wanted(&b), sets_wanted(&b), error, error_size);
    if (ok && b.impls > 0) verify_candidates(&b);
    if (ok && b.impls > 0) ok = time_candidates(&b);
    fixture_free(&b.f);
    free(b.candidates);
    free(b.rows);
    return ok;
}

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
                .quiet = measure_quiet(m, candidate, m->baseline),
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
