/* The arms of a case: every implementation that is right on it, the baseline once more (what it
 * shows against itself is noise), and the machine's limit on the same buffers.
 * SPDX-License-Identifier: MIT */
#include "timing/bench.h"
#include "timing/flush.h"
#include "machine/machine.h"
#include "timing/measure.h"
#include "timing/processes.h"
#include "timing/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

volatile sig_atomic_t bench_interrupted;

void bench_on_interrupt(int signal_number) {
    bench_interrupted = 1;
    signal(signal_number, SIG_DFL); /* a second one stops at once */
}

enum { INSTANCES_MOST = 1024 }; /* each takes some thirty mappings, and a process may have 65530 */

typedef struct arm {
    const nl_impl *impl; /* NULL: the limit */
    row line;
    struct bench *bench;
} arm;

typedef struct bench {
    const nl_case *c;
    int threads;
    nl_data data;
    answer want;
    instance *in; /* more than one for rotating buffers */
    size_t instances;
    arm *arms; /* the implementations, then the baseline again, then the limit */
    measure_arm *calls;
    size_t impls;
    limit_store store; /* the limit's */
} bench;

static void call_impl(void *context, size_t turn) {
    const arm *a = context;
    instance *in = &a->bench->in[turn % a->bench->instances];
    in->impl = a->impl;
    instance_call(in, a->line.threads);
}

/* Reads what the case reads and writes what it writes. */
static void call_limit(void *context, size_t turn) {
    const arm *a = context;
    const instance *in = &a->bench->in[turn % a->bench->instances];
    bool backward = a->bench->c->problem.pass == NL_BACKWARD;
    limit_job j = {.bytes = a->bench->data.bytes[NL_X], .store = a->bench->store};
    j.in[j.reads++] = in->at[NL_X];
    if (in->at[NL_DY]) j.in[j.reads++] = in->at[NL_DY];
    if (in->at[NL_RESIDUAL]) j.in[j.reads++] = in->at[NL_RESIDUAL];
    j.out[j.writes++] = backward ? in->at[NL_DX] : in->at[NL_Y];
    if (in->at[NL_RESIDUAL_OUT]) j.out[j.writes++] = in->at[NL_RESIDUAL_OUT];
    limit_move(&j, a->bench->threads);
}

/* Copying what is too large for a cache may be faster past it: the limit is the faster way. */
static limit_store faster_store(bench *b, arm *limit) {
    enum { LARGE = 4 << 20, TRIALS = 4 };
    double least[] = {INFINITY, INFINITY};
    if (b->c->streaming) return LIMIT_STREAM;
    if (b->data.bytes[NL_X] < LARGE) return LIMIT_ORDINARY;
    for (int i = 0; i < 2 * TRIALS; i++) {
        b->store = i % 2 ? LIMIT_STREAM : LIMIT_ORDINARY;
        double begin = clock_ns();
        call_limit(limit, (size_t)i);
        least[i % 2] = fmin(least[i % 2], clock_ns() - begin);
    }
    return least[1] < least[0] ? LIMIT_STREAM : LIMIT_ORDINARY;
}

static size_t limit_bytes(const bench *b) {
    size_t tensors = b->c->residual ? 4 : b->c->problem.pass == NL_BACKWARD ? 3 : 2;
    return tensors * b->data.bytes[NL_X];
}

static void flush_all(void *context) {
    const bench *b = context;
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (b->in[0].at[s]) flush(b->in[0].at[s], b->data.bytes[s]);
}

/* Runs an arm on clean buffers and judges what it leaves. */
static verdict judge(bench *b, const arm *a) {
    instance *in = &b->in[0];
    in->impl = a->impl;
    instance_fill(in);
    if (instance_call(in, a->line.threads) != NL_OK) return failure("%s", nl_message());
    return outputs_check(in, &b->want);
}

/* Buffers: one set, or for rotating enough sets to be twice the last-level cache. */
static bool make_instances(bench *b, size_t scratch) {
    size_t wanted = 1, set = case_bytes(b->c);
    if (b->c->cache == CACHE_ROTATING) wanted = 2 * last_cache_bytes() / (set ? set : 1) + 2;
    if (wanted > INSTANCES_MOST) {
        fprintf(stderr, "%s: rotates through %d sets of %zu bytes, less than twice the cache\n",
                b->c->text, INSTANCES_MOST, set);
        wanted = INSTANCES_MOST;
    }
    b->in = calloc(wanted, sizeof *b->in);
    for (; b->in && b->instances < wanted; b->instances++)
        if (!instance_make(b->c, &b->data, NULL, scratch, PLACE_START, &b->in[b->instances]))
            return false;
    return b->in != NULL;
}

static void free_bench(bench *b) {
    for (size_t i = 0; i < b->instances; i++) instance_free(&b->in[i]);
    free(b->in);
    answer_free(&b->want);
    data_free(&b->data);
    free(b->arms);
    free(b->calls);
}

/* The arms' implementations; those that cannot run here are reported as skipped. */
static size_t collect(bench *b, const options *o, report *out) {
    size_t scratch = 0;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (!options_want(o, m, b->c)) continue;
        size_t bytes = nl_scratch_bytes(m, &b->c->problem);
        bool crowded = b->threads > nl_max_threads();
        row line = {.c = b->c,
                    .impl = m->name,
                    .isa = m->isa,
                    .scratch_bytes = bytes,
                    .threads = m->threaded ? b->threads : 1};
        line.v.outcome = OUTCOME_SKIP;
        if (crowded)
            snprintf(line.v.why, sizeof line.v.why, "%d threads, and this machine runs %d",
                     b->threads, nl_max_threads());
        else
            snprintf(line.v.why, sizeof line.v.why, "this processor has no %s", m->isa);
        if (crowded || !nl_isa_runs(m->isa))
            report_row(out, &line);
        else
            b->arms[b->impls++] = (arm){.impl = m, .line = line, .bench = b};
        if (bytes > scratch) scratch = bytes;
    }
    return scratch;
}

static void say_failure(const arm *a) {
    const nl_case *c = a->bench->c;
    fprintf(stderr, "FAIL %s@%s on %s: %s\n     repeat: normlab check '%s' --impl '%s@%s'\n",
            a->impl->name, a->impl->isa, c->text, a->line.v.why, c->text, a->impl->name,
            a->impl->isa);
}

/* Keeps the arms that are right; reports and drops the others. */
static void verify_arms(bench *b, report *out, bench_counts *counts) {
    size_t kept = 0;
    for (size_t i = 0; i < b->impls; i++) {
        arm *a = &b->arms[i];
        a->line.v = judge(b, a);
        if (a->line.v.outcome != OUTCOME_FAIL) {
            b->arms[kept++] = *a;
            continue;
        }
        say_failure(a);
        report_row(out, &a->line);
        counts->failed += !is_peer(a->impl); /* what others do wrong is a result */
    }
    b->impls = kept;
}

static size_t find_baseline(const bench *b, const options *o) {
    for (size_t i = 0; i < b->impls; i++) {
        const char *slash = strrchr(b->arms[i].impl->name, '/');
        if (o->baseline ? options_match(o->baseline, b->arms[i].impl)
                        : slash && strcmp(slash, "/naive") == 0)
            return i;
    }
    return 0;
}

static timing read_timing(const bench *b, const measure *m, size_t i, size_t limit, double margin) {
    timing t = {.ns = measure_time(m, i),
                .ns_min = INFINITY,
                .rounds = m->rounds,
                .calls = m->calls,
                .stopped = stopped_name(m->stopped),
                .baseline = b->arms[m->baseline].impl->name,
                .log_ratio = measure_ratio(m, i, m->baseline),
                .band = stats_band(measure_ratio(m, b->impls, m->baseline))};
    for (size_t r = 0; r < m->rounds; r++) t.ns_min = fmin(t.ns_min, m->ns[r * m->count + i]);
    t.verdict = stats_verdict(t.log_ratio, t.band, margin);
    t.rounds_to_go = stats_rounds_to_go(t.log_ratio, t.band, margin, m->rounds);
    estimate to_limit = measure_ratio(m, i, limit);
    double more = log((double)case_bytes(b->c) / (double)limit_bytes(b));
    t.limit_gbps = (double)limit_bytes(b) / measure_time(m, limit).median;
    t.limit_pct = 100 * exp(more - to_limit.median);
    t.impossible = stats_impossible(to_limit, more, t.band, margin);
    return t;
}

static void write_rounds(FILE *out, const bench *b, const measure *m, size_t process) {
    for (size_t r = 0; out && r < m->rounds; r++)
        for (size_t i = 0; i < m->count; i++) {
            const arm *a = &b->arms[i];
            csv_text(out, b->c->text);
            fprintf(out, "%s,%s,%d,%zu,%zu,%zu,%zu,%.6g\n",
                    !a->impl        ? "(limit)"
                    : i >= b->impls ? "(baseline again)"
                                    : a->impl->name,
                    a->impl ? a->impl->isa : "-", a->line.threads, process, r,
                    m->position[r * m->count + i], m->calls, m->ns[r * m->count + i]);
        }
}

static double middle(double *values, size_t n) {
    return stats_median(values, n, 0).median;
}

/* Several processes' timings as one: the median of their medians, and an interval that holds all of
 * theirs, since what differs between processes is not noise that more rounds would average out. */
static timing merge_timings(const timing *t, size_t n, double margin) {
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

/* Times in this process, or in o->processes others; timings[process * impls + arm]. */
static size_t measure_arms(bench *b, const options *o, measure *m, timing *timings, FILE *rounds,
                           char *error, size_t error_size) {
    size_t done = 0, limit = b->impls + 1;
    for (; done < o->processes && !bench_interrupted; done++) {
        bool ok = o->processes == 1 ? measure_run(m)
                                    : process_measure(b->c, o, m->count, m, error, error_size);
        for (size_t i = 0; ok && m->rounds && i < b->impls; i++)
            timings[done * b->impls + i] = read_timing(b, m, i, limit, o->margin);
        if (ok) write_rounds(rounds, b, m, done);
        bool empty = m->rounds == 0;
        measure_free(m);
        if (!ok || empty) return done;
    }
    return done;
}

static bool time_arms(bench *b, const options *o, report *out, FILE *rounds, bench_counts *counts,
                      char *error, size_t error_size) {
    size_t baseline = find_baseline(b, o), limit = b->impls + 1;
    b->arms[b->impls] = b->arms[baseline];
    b->arms[limit] = (arm){.bench = b, .line = {.threads = b->threads}};
    b->store = faster_store(b, &b->arms[limit]);
    for (size_t i = 0; i < b->impls + 2; i++)
        b->calls[i] = (measure_arm){i == limit ? call_limit : call_impl, &b->arms[i]};
    measure m = {.arms = b->calls,
                 .count = b->impls + 2,
                 .baseline = baseline,
                 .seconds = o->seconds * (double)(b->impls + 2),
                 .precision = o->precision,
                 .seed = 1,
                 .clock = clock_ns,
                 .interrupted = &bench_interrupted,
                 .before = b->c->cache == CACHE_COLD ? flush_all : NULL,
                 .before_context = b};
    timing *timings = malloc(o->processes * b->impls * sizeof *timings);
    timing *one = malloc(o->processes * sizeof *one);
    size_t done = timings && one ? measure_arms(b, o, &m, timings, rounds, error, error_size) : 0;
    for (size_t i = 0; i < b->impls; i++) {
        arm *a = &b->arms[i];
        verdict after = judge(b, a);
        for (size_t p = 0; p < done; p++) one[p] = timings[p * b->impls + i];
        if (after.outcome == OUTCOME_FAIL) { /* right before the timing, wrong after it */
            a->line.v = after;
            say_failure(a);
            counts->failed += !is_peer(a->impl);
        } else if (done > 0) {
            a->line.timed = true;
            a->line.is_baseline = i == baseline;
            a->line.t = merge_timings(one, done, o->margin);
            counts->timed++;
        }
        report_row(out, &a->line);
    }
    free(timings);
    free(one);
    return done > 0 || bench_interrupted;
}

bool bench_case(const nl_case *c, const options *o, report *out, FILE *rounds,
                bench_counts *counts) {
    char error[700] = "no memory";
    bench b = {.c = c, .threads = options_threads(o, c)};
    bool ok = data_make(c, &b.data, error, sizeof error);
    b.arms = ok ? calloc(nl_impl_count() + 2, sizeof *b.arms) : NULL;
    b.calls = ok ? calloc(nl_impl_count() + 2, sizeof *b.calls) : NULL;
    ok = b.arms && b.calls && answer_make(c, &b.data, &b.want);
    if (ok) ok = make_instances(&b, collect(&b, o, out));
    if (ok) verify_arms(&b, out, counts);
    if (ok && b.impls > 0) ok = time_arms(&b, o, out, rounds, counts, error, sizeof error);
    if (!ok) fprintf(stderr, "normlab: %s: %s\n", c->text, error);
    free_bench(&b);
    return ok;
}
