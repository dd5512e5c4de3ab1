/* `normlab tune`: measures from which size on streaming stores and threads pay on this machine, and
 * writes the file for NL_TUNING. Times a chain, because the norm's neighbours decide what pays: a
 * copy writes the norm's input, the norm runs, and its output is read. A threshold holds whether or
 * not the caches contain the chain's buffers. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/replace.h"
#include "machine/kernel_files.h"
#include "timing/measure.h"
#include "timing/limit.h"
#include "tuning.h"
#include "cli/case_options.h"
#include "cli/terminal.h"
#include "commands/tune.h"
#include "commands/commands.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char help[] =
    "normlab tune [options]\n\n"
    "Measures from which size on streaming stores and threads pay on this machine, and writes a\n"
    "file for NL_TUNING (docs/tuning.md). This takes two to three minutes.\n\n"
    "  --out FILE     write the file to FILE (default: to stdout, and measurements to stderr)\n"
    "  --threads N    threads to compare with one (all)\n"
    "  --seconds S    for each candidate and size (0.3; with --quick 0.01)\n"
    "  --precision P  stop when each interval's half-width is below this fraction (0.01)\n"
    "  --margin M     SAME: interval and A/A band lie within +- M (0.02)\n"
    "  --quick        short timing, y of up to 16 MiB: takes seconds\n\n"
    "Examples:\n"
    "  normlab tune --out tuning.txt && export NL_TUNING=$PWD/tuning.txt\n"
    "  normlab tune --quick\n";

enum { C = 1024, ROW = C * sizeof(float), MIB = 1 << 20, ROWS = 64 * MIB / ROW, POINTS = 12 };

/* Finds the number of rows from which on `first` is faster than `second`. If a threaded rung is
 * named, both are this rung: on all threads, and on one thread. Otherwise both are nl_best(): with
 * streaming stores, and with ordinary stores. parts: bytes or elements of a row. */
static const struct question {
    const char *key, *first, *second, *threaded;
    nl_op op;
    nl_pass pass;
    size_t parts, least, most;
} questions[] =
    {{"stream_bytes", "streaming", "ordinary", NULL, NL_LAYERNORM, NL_FORWARD, ROW, 64, ROWS},
     {"stream_backward", "streaming", "ordinary", NULL, NL_LAYERNORM, NL_BACKWARD, ROW, 64, ROWS},
     {"stream_batch", "streaming", "ordinary", NULL, NL_BATCHNORM, NL_FORWARD, ROW, 64, ROWS},
     {"fork_forward", "threads", "one thread", "optimized/rows_threaded", NL_LAYERNORM, NL_FORWARD,
      C, 2, 4096},
     {"fork_backward", "threads", "one thread", "optimized/rows_backward_threaded", NL_LAYERNORM,
      NL_BACKWARD, C, 2, 4096},
     {"fork_batch", "threads", "one thread", "optimized/batch_threaded", NL_BATCHNORM, NL_FORWARD,
      C, 2, 4096}};
enum { QUESTIONS = sizeof questions / sizeof *questions };

/* The copy reads SOURCE. It writes COPIED, the norm's input (backward: dy). The norm writes OUT.
 * KEPT is x of backward. A rotating chain goes through the whole buffers, so that none of its data
 * are in a cache; a warm chain uses the same part again. */
enum { SOURCE, COPIED, OUT, KEPT, BUFFERS };
static char *buffer[BUFFERS];
static size_t room; /* rows of each buffer */
static float gain[C], bias[C], dgain[C], dbias[C], mean[ROWS], rstd[ROWS];

typedef struct chain {
    const nl_impl *impl;
    nl_problem p;
    int threads;
    bool rotates, failed;
} chain;

static void call_chain(void *context, size_t turn) {
    chain *c = context;
    const size_t bytes = c->p.n * ROW, at = c->rotates ? turn % (room / c->p.n) * bytes : 0;
    char *const copied = buffer[COPIED] + at, *const out = buffer[OUT] + at;
    limit_move(&(limit_job){{buffer[SOURCE] + at}, {copied}, 1, 1, bytes, {0}}, 1);
    nl_forward_args f = {.x = copied, .gamma = gain, .beta = bias, .y = out};
    nl_backward_args b = {.x = buffer[KEPT] + at, .dy = copied, .dx = out, .gamma = gain};
    b.mean = mean, b.rstd = rstd, b.dgamma = dgain, b.dbeta = dbias;
    c->failed |= (c->p.pass == NL_FORWARD ? nl_forward(c->impl, &c->p, &f, c->threads)
                                          : nl_backward(c->impl, &c->p, &b, c->threads)) != NL_OK;
    limit_move(&(limit_job){{out}, {NULL}, 1, 0, bytes, {0}}, 1);
}

/* Allocates at most a quarter of the memory that we may use, and fills it with ordinary numbers. */
static bool make_buffers(bool quick) {
    const double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double rows = fmin(all, cgroup_limits().bytes) / 4 / BUFFERS / ROW;
    room = (size_t)fmin(rows, quick ? ROWS / 4 : ROWS) / 512 * 512; /* whole huge pages */
    const size_t bytes = BUFFERS * room * ROW;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return false;
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ((float *)p)[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-22f - 2;
    for (size_t i = 0; i < BUFFERS; i++) buffer[i] = p + i * room * ROW;
    for (size_t i = 0; i < C; i++) gain[i] = 1;
    for (size_t i = 0; i < ROWS; i++) rstd[i] = 1;
    return true;
}

typedef struct curve {
    const nl_impl *first, *second;
    const char *skipped; /* why the question was skipped, or NULL */
    size_t count, rows[POINTS];
    estimate ratio[POINTS][2]; /* warm and rotating: log(time of first / time of second) */
    comparison verdict[POINTS];
} curve;

static const nl_impl *best_with(const struct question *q, size_t n, nl_stores stores) {
    return nl_best(&(nl_problem){q->op, q->pass, .n = n, .c = C, .s = 1, .stores = stores}, 1);
}

static curve plan(const struct question *q, int threads) {
    curve c = {.first = q->threaded ? nl_find(q->threaded, nl_isa_best())
                                    : best_with(q, 64, NL_STORES_STREAMING)};
    c.second = q->threaded ? c.first : best_with(q, 64, NL_STORES_CACHED);
    if (!c.first || (!q->threaded && c.first == c.second)) c.skipped = "it changes no choice here";
    if (q->threaded && threads == 1) c.skipped = "there is one thread";
    for (size_t n = q->least; !c.skipped && n <= q->most && n <= room; n *= 2)
        c.rows[c.count++] = n;
    return c;
}

/* `second` takes part twice: the ratio of its two times is noise. */
static bool measure_state(const struct question *q, curve *c, size_t i, bool rotates,
                          const case_options *o) {
    nl_problem p = {q->op, q->pass, .n = c->rows[i], .c = C, .s = 1, .eps = 1e-5f};
    chain first = {c->first, p, q->threaded ? o->threads : 1, rotates, false};
    chain second = {c->second, p, 1, rotates, false};
    if (!q->threaded) { /* the best rung depends on the size */
        first.impl = best_with(q, p.n, NL_STORES_STREAMING);
        second.impl = best_with(q, p.n, NL_STORES_CACHED);
    }
    const measure_candidate candidates[] = {{.call = call_chain, .context = &first},
                                            {.call = call_chain, .context = &second},
                                            {.call = call_chain, .context = &second}};
    measure m = {.candidates = candidates,
                 .count = 3,
                 .baseline = 1,
                 .seed = c->rows[i],
                 .clock = clock_ns};
    m.seconds = 3 * o->seconds, m.precision = o->precision, m.interrupted = interrupted;
    const bool ok = measure_run(&m);
    estimate *ratio = &c->ratio[i][rotates];
    *ratio = measure_ratio(&m, 0, 1);
    const comparison v = stats_verdict(*ratio, stats_band(measure_ratio(&m, 2, 1)), o->margin);
    c->verdict[i] = rotates ? tune_both(c->verdict[i], v) : v;
    measure_free(&m);
    return ok && !first.failed && !second.failed;
}

static bool measure_point(const struct question *q, curve *c, size_t i, const case_options *o) {
    return measure_state(q, c, i, false, o) && measure_state(q, c, i, true, o);
}

static bool measure_all(const case_options *o, curve *curves) {
    size_t done = 0, total = 0;
    bool ok = true;
    for (int q = 0; q < QUESTIONS; q++) total += curves[q].count;
    for (int q = 0; q < QUESTIONS; q++)
        for (size_t i = 0; ok && !interrupted() && i < curves[q].count; i++) {
            progress(done++, total, questions[q].key);
            ok = measure_point(&questions[q], &curves[q], i, o);
        }
    progress(1, 1, "");
    return ok;
}

comparison tune_both(comparison a, comparison b) {
    static const comparison worst_first[] = {SLOWER, NOT_RESOLVED, FASTER};
    for (int i = 0; i < 3; i++)
        if (a == worst_first[i] || b == worst_first[i]) return worst_first[i];
    return SAME;
}

size_t tune_from(const comparison *verdicts, size_t n, bool *known) {
    size_t from = n;
    *known = n > 0 && verdicts[n - 1] != NOT_RESOLVED;
    for (size_t i = n; i-- > 0 && (verdicts[i] == FASTER || verdicts[i] == NOT_RESOLVED);)
        if (verdicts[i] == FASTER) from = i, *known = true;
    return from;
}

bool tune_holds(const comparison *verdicts, size_t was, size_t now) {
    for (size_t i = was < now ? was : now; i < was || i < now; i++)
        if (verdicts[i] == (now < was ? SLOWER : FASTER)) return false;
    return true;
}

/* Measures again the sizes whose choice changes if the threshold moves to index `now`. False: the
 * new choice loses. */
static bool confirm(FILE *out, const struct question *q, curve *c, size_t was, size_t now,
                    const case_options *o) {
    for (size_t i = was < now ? was : now; i < was || i < now; i++) {
        if (!measure_point(q, c, i, o)) return false;
        const double sign = now < was ? -1 : 1;
        fprintf(out, "again %12zu: %s over %s, warm %.2fx, rotating %.2fx\n", c->rows[i] * q->parts,
                now < was ? q->second : q->first, now < was ? q->first : q->second,
                exp(sign * c->ratio[i][0].median), exp(sign * c->ratio[i][1].median));
    }
    return tune_holds(c->verdict, was, now);
}

static void conclude(FILE *out, const struct question *q, curve *c, size_t *key,
                     const case_options *o) {
    const char *const winners[] = {q->first, q->second, "same", "not resolved"},
                      *stays = c->skipped;
    bool known;
    const size_t from = tune_from(c->verdict, c->count, &known);
    size_t was = 0;
    while (was < c->count && c->rows[was] * q->parts < *key) was++;
    if (!stays && !known) stays = "the largest sizes are not resolved";
    fprintf(out, "\n%s: %s or %s?\n", q->key, q->first, q->second);
    if (c->count)
        fprintf(out, "%12s %8s %17s %9s %17s   faster\n", q->parts == ROW ? "bytes" : "elements",
                "warm", "interval", "rotating", "interval");
    for (size_t i = 0; i < c->count; i++) {
        fprintf(out, "%12zu", c->rows[i] * q->parts);
        for (int k = 0; k < 2; k++) {
            const estimate r = c->ratio[i][k];
            fprintf(out, " %*.2fx %8.2f to %5.2f", 7 + k, exp(-r.median), exp(-r.high),
                    exp(-r.low));
        }
        fprintf(out, "   %s\n", winners[c->verdict[i]]);
    }
    if (!stays && !confirm(out, q, c, was, from, o))
        stays = "the new value was slower when measured again";
    if (!stays) *key = from < c->count ? c->rows[from] * q->parts : SIZE_MAX;
    const char *how = stays ? " stays: " : *key == SIZE_MAX ? " (never)" : "";
    fprintf(out, "%s %zu%s%s\n", q->key, *key, how, stays ? stays : "");
}

static void report(FILE *out, curve *curves, size_t *const *keys, const case_options *o) {
    fprintf(
        out,
        "Assumes that the calling thread then reads all of y (or dx). Timed: a copy, LayerNorm or\n"
        "BatchNorm of N x %d in f32 on %s, and a read of y; warm and rotating.\n"
        "again: time with the default / time with the value found.\n",
        C, nl_isa_best());
    for (int q = 0; q < QUESTIONS; q++) conclude(out, &questions[q], &curves[q], keys[q], o);
}

int cmd_tune(int argc, char **argv) {
    case_options o = {.threads = nl_max_threads(), .seconds = 0.3, .quick_seconds = 0.01};
    int code = case_options_read(argc, argv, help, &o);
    if (code >= 0) return cases_free(&o.cases), code;
    interrupt_watch();
    replacement file = {.file = stdout};
    if (o.out && !replace_begin(&file, o.out)) {
        fprintf(stderr, "normlab: cannot write %s: %s\n", o.out, strerror(errno));
        return NL_EXIT_USAGE;
    }
    nl_tuning t = *nl_tuning_now(), all_fork = t;
    all_fork.fork_forward = all_fork.fork_backward = all_fork.fork_batch = 0;
    size_t *const keys[QUESTIONS] = {&t.stream_bytes, &t.stream_backward, &t.stream_batch,
                                     &t.fork_forward, &t.fork_backward,   &t.fork_batch};
    curve curves[QUESTIONS];
    bool ok = make_buffers(o.quick);
    for (int q = 0; q < QUESTIONS; q++) curves[q] = plan(&questions[q], o.threads);
    nl_tuning_use(&all_fork);
    ok = ok && measure_all(&o, curves);
    if (ok && !interrupted()) report(o.out ? stdout : stderr, curves, keys, &o);
    if (!ok || interrupted()) {
        if (o.out) replace_end(&file, false);
        fprintf(stderr, ok ? "interrupted: nothing is written\n" : "normlab: out of memory\n");
        return ok ? NL_EXIT_INTERRUPTED : NL_EXIT_FAILED;
    }
    fprintf(file.file, "# normlab tune: %s, %d threads\n", nl_isa_best(), o.threads);
    ok = nl_tuning_write(file.file, &t);
    if (o.out) ok = replace_end(&file, ok);
    if (!ok)
        fprintf(stderr, "normlab: cannot write %s: %s\n", o.out ? o.out : "stdout",
                strerror(errno));
    char *path = o.out ? realpath(o.out, NULL) : NULL;
    if (ok) fprintf(stderr, "\nTo use it: export NL_TUNING='%s'\n", path ? path : "FILE");
    free(path);
    return ok ? NL_EXIT_OK : NL_EXIT_FAILED;
}
