/* nl_best() names the rung that runs, at every size: shapes on both sides of each threshold (sizes
 * of registers and caches, the fork thresholds, stream_bytes), for every layer and pass.
 * SPDX-License-Identifier: MIT */
#include "best.h"
#include "caches.h"
#include "jobs.h"
#include "layer.h"
#include "registry.h"
#include "trial.h"
#include "tuning.h"

#include <stdio.h>
#include <unistd.h>

/* Low thresholds, so that the shapes are small. */
static nl_tuning tuning = {.stream_bytes = 16384,
                           .stream_backward = 12288,
                           .stream_batch = 20480,
                           .fork_forward = 3072,
                           .fork_backward = 5120,
                           .fork_batch = 4096};

static void use_low_thresholds(void) {
    one_thread();
    nl_tuning_use(&tuning);
}

TestSuite(routing, .init = use_low_thresholds);

static const nl_impl *rung(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "optimized/%s", name);
    return nl_find(path, nl_isa_best());
}

/* The lanes of a vector, as rows_simd declares, which has one vector for a sum. */
static size_t lanes(void) {
    if (!rung("rows_simd")) cr_skip_test("optimized/ is not compiled for %s", nl_isa_best());
    return (size_t)rung("rows_simd")->lanes;
}

/* Vectors of a row of x that stay in registers. */
static size_t vectors_kept(bool backward) {
    const char *isa = nl_isa_best();
    return !backward && strcmp(isa, "avx2") != 0 && strcmp(isa, "sse2") != 0 ? 8 : 4;
}

/* The rule, stated independently: does it pay to fork, and to stream a thread's share? */
static bool forks(const nl_problem *p, int threads) {
    size_t from = p->pass == NL_BACKWARD ? tuning.fork_backward : tuning.fork_forward;
    if (p->op == NL_BATCHNORM && p->pass != NL_INFERENCE) from = tuning.fork_batch;
    return threads > 1 && p->n * p->c * p->s >= from;
}

static bool streams(const nl_problem *p, size_t shares) {
    if (p->stores != NL_STORES_AUTO) return p->stores == NL_STORES_STREAMING;
    const size_t narrow = p->pass == NL_BACKWARD ? 64 : 128; /* eight of the widest vectors */
    if (p->op != NL_BATCHNORM && p->c <= narrow) return false;
    const bool dx = p->pass == NL_BACKWARD && p->dtype == NL_F32;
    size_t from = dx ? tuning.stream_backward : tuning.stream_bytes;
    if (p->op == NL_BATCHNORM && p->pass != NL_INFERENCE) from = tuning.stream_batch;
    return p->n * p->c * p->s * (p->dtype == NL_F32 ? 4 : 2) / shares >= from;
}

/* Rows of x, dy, dx, with gamma, dgamma and dbeta, in the first-level cache. */
static bool fit(const nl_problem *p, size_t rows) {
    return p->c * (3 * rows * (p->dtype == NL_F32 ? 4 : 2) + 12) <= nl_caches_now()->first;
}

/* Does some of x come from memory? */
static bool spills(const nl_problem *p, size_t sixteenths) {
    const size_t y = p->n * p->c * p->s * (p->dtype == NL_F32 ? 4 : 2);
    return 16 * y >= sixteenths * nl_caches_now()->last;
}

/* Two rows of x, one of y, gamma and (LayerNorm) beta, all f32, in the first-level cache, and not all
 * of it. */
static bool two_rows_fit(const nl_problem *p) {
    return p->c * (p->op == NL_LAYERNORM ? 20 : 16) < nl_caches_now()->first;
}

/* Are all tensors larger than N second-level caches? */
static bool outgrows(const nl_problem *p, size_t caches) {
    const size_t tensors = p->pass == NL_BACKWARD ? 3 : 2, bytes = p->dtype == NL_F32 ? 4 : 2;
    return p->n * p->c * p->s > caches * nl_caches_now()->second / (tensors * bytes);
}

static bool far(const nl_problem *p) {
    return spills(p, 6) || (nl_cache_bytes(3) > 64 << 20 && outgrows(p, 2));
}

/* Do floats of a row of 16 bits stay in the first-level cache? */
static bool kept_fits(const nl_problem *p) {
    const size_t first = nl_caches_now()->first;
    if (p->pass == NL_FORWARD) return 2 * p->c * (p->op == NL_LAYERNORM ? 20 : 16) <= first;
    return p->c <= first / 3 * 2 / 26;
}

static bool certified(const nl_problem *p) {
    if (p->dtype != NL_F32) return spills(p, 6) && !kept_fits(p);
    return spills(p, 3) || !two_rows_fit(p);
}

static const char *on_one_thread(const nl_problem *p, size_t shares) {
    bool backward = p->pass == NL_BACKWARD;
    if (p->op != NL_BATCHNORM) {
        /* Rows of 16 bits and at most 16 steps of four vectors are kept. */
        const bool kept = p->dtype != NL_F32 && p->c <= lanes() * 64;
        const size_t bytes = p->c * (p->dtype == NL_F32 ? 4 : 2);
        const bool lines = bytes % 64 == 0, stores = p->stores == NL_STORES_STREAMING;
        const bool cached = p->dtype != NL_F32 && !lines && p->c <= (backward ? 512 : 1024);
        if (streams(p, shares) && kept && lines && !backward) return "rows_kept_streaming";
        if (streams(p, shares) && (stores || !cached))
            return backward ? "rows_backward_streaming" : "rows_streaming";
        const bool loops = !backward && p->op == NL_LAYERNORM && p->c > 64;
        if (p->c <= lanes() * vectors_kept(backward) && !loops)
            return backward ? "rows_backward_registers" : "rows_registers";
        if (kept && kept_fits(p) && far(p) && (backward || p->c >= 256))
            return backward ? "rows_backward_kept_prefetch" : "rows_kept_prefetch";
        if (!backward && certified(p)) return "rows_certified";
        if (!backward) return kept ? "rows_kept" : "rows_pipelined";
        if (kept && kept_fits(p) && p->c > 256) return "rows_backward_kept";
        return fit(p, 1) && !fit(p, 4) ? "rows_backward_simd" : "rows_backward_blocks";
    }
    if (p->pass == NL_INFERENCE)
        return streams(p, shares) ? "batch_inference_streaming" : "batch_inference";
    if (backward && streams(p, shares)) return "batch_backward_streaming";
    if (backward)
        return p->s < 32 && outgrows(p, 1) ? "batch_backward_reverse" : "batch_backward_tiles";
    if (streams(p, shares)) return "batch_streaming";
    return p->s < 32 && outgrows(p, 1) && !spills(p, 3) ? "batch_reverse" : "batch_prefetch";
}

static const char *expected(const nl_problem *p, int threads) {
    static const char *const threaded[2][3] = {{"rows_threaded", "rows_backward_threaded", NULL},
                                               {"batch_threaded", "batch_backward_threaded",
                                                "batch_inference_threaded"}};
    if (forks(p, threads)) return threaded[p->op == NL_BATCHNORM][p->pass];
    return on_one_thread(p, 1);
}

/* Forward: of a thread's share of y; backward: of all of dx, so that bits do not depend on
 * threads. */
static const char *expected_each(const nl_problem *p, int threads) {
    return on_one_thread(p, p->pass == NL_BACKWARD ? 1 : (size_t)threads);
}

static bool is_in_optimized(const struct job *job) {
    size_t i = 0;
    while (i < nl_impl_count() && !(strncmp(nl_impl_at(i)->name, "optimized/", 10) == 0 &&
                                    nl_impl_at(i)->ops & NL_BIT(job->op)))
        i++;
    return i < nl_impl_count();
}

/* Calls visit on shapes around each threshold, given in elements, and around what registers hold.
 * Nothing is routed to a layer's only rungs in plain C. */
static void walk(const struct job *job, nl_dtype t, void (*visit)(nl_problem p)) {
    const size_t v = lanes(), bytes = t == NL_F32 ? 4 : 2, most = tuning.stream_bytes / bytes;
    const size_t backward = tuning.stream_backward / bytes,
                 batch_most = tuning.stream_batch / bytes;
    const size_t edges[] = {tuning.fork_forward,
                            tuning.fork_backward,
                            tuning.fork_batch,
                            backward,
                            batch_most,
                            most,
                            2 * most,
                            3 * most};
    const size_t widths[] = {4 * v - 1, 4 * v,  4 * v + 1,  8 * v - 1, 8 * v, 8 * v + 1, 64,  65,
                             100,       64 * v, 64 * v + 1, 1023,      1025,  2000,      4096};
    const bool batch = job->op == NL_BATCHNORM;
    if (!is_in_optimized(job)) return;
    nl_problem p = {.op = job->op, .pass = job->pass, .dtype = t, .s = 1, .eps = 1e-5f};
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
        for (size_t off = 0; off < 3; off++) { /* exactly below, at and above */
            p.n = 1, p.c = edges[e] + off - 1;
            if (batch) p.s = p.c / 3 % 7 + 2, p.c = (p.c + p.s - 1) / p.s;
            visit(p);
            p.s = 1;
        }
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t off = 0; off < 3; off++) {
                p.c = widths[w], p.n = edges[e] / p.c + off;
                if (p.n > 1) visit(p);
            }
    }
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        p.n = 2, p.c = widths[w];
        visit(p);
    }
}

/* rows_registers adds in another order: a thread's share decides nothing about it. */
static void check_order(const nl_problem *p) {
    if (p->pass != NL_FORWARD || p->op == NL_BATCHNORM) return;
    const nl_impl *registers = rung("rows_registers"), *alone = nl_best_each(p, 1, NULL);
    for (int threads = 2; threads <= 3; threads++)
        if ((nl_best_each(p, threads, NULL) == registers) != (alone == registers))
            cr_assert_fail("%s %s %zux%zu: other sums on %d threads", nl_op_name(p->op),
                           nl_dtype_name(p->dtype), p->n, p->c, threads);
}

static void check_names(nl_problem p) {
    check_order(&p);
    for (int threads = 1; threads <= 3; threads++)
        for (int stores = NL_STORES_AUTO; stores <= NL_STORES_STREAMING; stores++) {
            p.stores = (nl_stores)stores;
            const nl_impl *best = nl_best(&p, threads);
            if (best != rung(expected(&p, threads)) || !nl_accepts(best, &p))
                cr_assert_fail("%s %s %s %zux%zux%zu, %d threads, stores %d: %s, not %s",
                               nl_op_name(p.op), nl_pass_name(p.pass), nl_dtype_name(p.dtype), p.n,
                               p.c, p.s, threads, stores, best->name, expected(&p, threads));
            if (p.op == NL_BATCHNORM || !forks(&p, threads)) continue;
            const nl_impl *each = nl_best_each(&p, threads, nl_isa_best());
            if (each != rung(expected_each(&p, threads)) || !nl_accepts(each, &p))
                cr_assert_fail("%s %s %s %zux%zu, each of %d threads, stores %d: %s, not %s",
                               nl_op_name(p.op), nl_pass_name(p.pass), nl_dtype_name(p.dtype), p.n,
                               p.c, threads, stores, each ? each->name : "nothing",
                               expected_each(&p, threads));
        }
}

/* Shapes around what each level of the caches holds. */
static void walk_caches(const struct job *job, nl_dtype t) {
    const size_t bytes = t == NL_F32 ? 4 : 2, first = nl_caches_now()->first;
    const bool batch = job->op == NL_BATCHNORM, backward = job->pass == NL_BACKWARD;
    const size_t kept =
        backward ? first / 3 * 2 / 26 : first / 2 / (job->op == NL_LAYERNORM ? 20 : 16);
    const size_t widths[] = {1024, 64, 100, 255, 256, 257, 511, 513, kept, kept + 1},
                 runs[] = {1, 31, 32};
    const size_t second = nl_caches_now()->second / ((backward ? 3 : 2) * bytes);
    const size_t spill = nl_caches_now()->last * 3 / 16 / bytes;
    const size_t elements[] = {second, 2 * second, spill, 2 * spill};
    nl_problem p = {.op = job->op, .pass = job->pass, .dtype = t, .n = 2, .s = 1, .eps = 1e-5f};
    if (!is_in_optimized(job)) return;
    for (size_t floats = 4; !batch && floats <= 5; floats++)
        for (size_t off = 0; off < 3; off++) {
            p.c = first / (4 * floats) + off - 1;
            check_names(p);
        }
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        for (size_t k = 0; k < (batch ? 3 : sizeof widths / sizeof *widths); k++)
            for (size_t off = 0; off < 3; off++) {
                p.c = batch ? 1024 : widths[k], p.s = batch ? runs[k] : 1;
                p.n = elements[i] / (p.c * p.s) + off - 1;
                check_names(p);
            }
}

Test(routing, names_at_every_threshold) {
    for (size_t j = 0; j < JOBS; j++)
        for (nl_dtype t = NL_F32; t <= NL_BF16; t++) {
            walk(&jobs[j], t, check_names);
            walk_caches(&jobs[j], t);
        }
}

/* core/best.c skips a choice whose rung it does not find. */
Test(routing, choices_are_rungs) {
    FILE *source = fopen(NL_SOURCE_DIR "/core/best.c", "r");
    char line[256], name[64], path[4096];
    size_t choices = 0;
    cr_assert(source, "no core/best.c");
    while (fgets(line, sizeof line, source)) {
        if (sscanf(line, " {\"%63[^\"]\"", name) != 1) continue;
        snprintf(path, sizeof path, "%s/%s.c", NL_SOURCE_DIR, name);
        if (access(path, R_OK)) cr_assert_fail("choices[] of core/best.c: no file %s.c", name);
        choices++;
    }
    fclose(source);
    cr_assert(choices > 0, "core/best.c has no choices[]");
}

/* As by default: not everything larger than the last-level cache is streamed. */
static void stream_from_half(void) {
    const size_t half = nl_caches_now()->last / 2;
    tuning.stream_bytes = tuning.stream_backward = tuning.stream_batch = half;
    nl_tuning_use(&tuning);
}

Test(routing, names_below_the_streams) {
    lanes(); /* or skip */
    stream_from_half();
    for (size_t j = 0; j < JOBS; j++)
        for (nl_dtype t = NL_F32; t <= NL_BF16; t++) walk_caches(&jobs[j], t);
}

Test(routing, last_level_is_bounded) {
    const size_t known = nl_cache_bytes(3), all = nl_caches_now()->last, mib = 1 << 20;
    cr_assert(all >= 8 * mib && all <= 64 * mib);
    if (!known) cr_assert_eq(all, 16 * mib);
    if (known >= 8 * mib && known <= 64 * mib) cr_assert_eq(all, known);
}

/* Calls an implementation, or NULL; returns whether y or dx has the same bits as a's. */
static void run(trial *t, const char *text, const nl_impl *impl, const nl_impl *called,
                int threads) {
    trial_make_calls(t, text);
    trial_place(t, impl);
    t->in.impl = called;
    nl_status status = instance_call(&t->in, threads);
    if (status != NL_OK) cr_assert_fail("%s on %s: %s", impl->name, text, nl_message());
}

static bool same_rows(const trial *a, const char *text, const char *name) {
    const nl_arg out = a->c.problem.pass == NL_BACKWARD ? NL_DX : NL_Y;
    trial b;
    run(&b, text, rung(name), rung(name), 1);
    bool same = memcmp(a->in.at[out], b.in.at[out], a->data.bytes[out]) == 0;
    trial_end(&b);
    return same;
}

/* Row norms sum in another order in registers; backward, also where one row fits the cache. */
static size_t told_apart[2], in_turn;

static void check_runs(nl_problem p) {
    char text[128];
    if (p.n > 1 && in_turn++ % 4) return; /* exact sizes, and a quarter of the others */
    snprintf(text, sizeof text, "%s/%s/%s/%zux%zux%zu/normal", nl_op_name(p.op),
             nl_pass_name(p.pass), nl_dtype_name(p.dtype), p.n, p.c, p.s);
    for (int threads = 1; threads <= 3; threads++) {
        const nl_impl *best = nl_best(&p, threads);
        trial unnamed, named;
        run(&unnamed, text, best, NULL, threads);
        run(&named, text, rung(expected(&p, threads)), best, threads);
        if (!same_results(&unnamed, &named))
            cr_assert_fail("%s, %d threads: NULL and %s differ", text, threads, best->name);
        /* Stores and threads change no bit. */
        if (p.op == NL_BATCHNORM && !same_rows(&named, text, on_one_thread(&p, 1)))
            cr_assert_fail("%s, %d threads: %s has other bits", text, threads, best->name);
        if (p.op == NL_BATCHNORM && p.pass == NL_BACKWARD &&
            !same_rows(&named, text, "batch_backward_reverse"))
            cr_assert_fail("%s, %d threads: %s and reverse differ", text, threads, best->name);
        if (p.op != NL_BATCHNORM) {
            const bool backward = p.pass == NL_BACKWARD;
            const char *each =
                forks(&p, threads) ? expected_each(&p, threads) : expected(&p, threads);
            if (!same_rows(&named, text, each))
                cr_assert_fail("%s, %d threads: %s did not run %s", text, threads, best->name,
                               each);
            const char *other = backward ? "rows_backward_blocks" : "rows_pipelined";
            if (strcmp(each, other) == 0 && !backward && !same_rows(&named, text, "rows_certified"))
                cr_assert_fail("%s, %d threads: pipelined and certified differ", text, threads);
            told_apart[backward] += strcmp(each, other) && !same_rows(&named, text, other);
        }
        trial_end(&named), trial_end(&unnamed);
    }
}

/* Streamed in groups, beside rows that are not finite, every row is written as if alone. */
Test(routing, wide_rows) {
    static const char *const cases[] = {"f32/12x10243x1/nan",
                                        "f32/12x10243x1/nan/residual/in-place",
                                        "bf16/6x10240x1/normal/in-place", "f32/5x70001x1/normal",
                                        "f16/2x40000x1/inf"};
    const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM, NL_QWEN2_RMSNORM};
    lanes(); /* or skip */
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s/forward/%s", nl_op_name(ops[i % 3]), cases[i / 3]);
        trial streamed, alone;
        run(&streamed, text, rung("rows_streaming"), rung("rows_streaming"), 1);
        run(&alone, text, rung("rows_certified"), rung("rows_certified"), 1);
        cr_assert(same_results(&streamed, &alone), "%s: streaming has other bits", text);
        trial_end(&streamed), trial_end(&alone);
    }
}

Test(routing, what_is_named_runs) {
    for (size_t j = 0; j < JOBS; j++)
        walk(&jobs[j], jobs[j].op == NL_RMSNORM ? NL_BF16 : NL_F32, check_runs);
    cr_assert(told_apart[0] > 10 && told_apart[1] > 5,
              "only %zu and %zu calls could be told from the others", told_apart[0], told_apart[1]);
}

static int given;

static void note_forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)p, (void)a, given = threads;
}

static void note_backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)p, (void)a, given = threads;
}

static float memory[14][40000];

/* The threads that an implementation gets when the caller allows N. */
static int threads_of(const nl_impl *impl, const nl_problem *p, int threads) {
    float(*m)[40000] = memory;
    const bool batch = p->op == NL_BATCHNORM, backward = p->pass == NL_BACKWARD;
    nl_forward_args f = {.x = m[0], .y = m[1]};
    if (batch) f.running_mean = m[2], f.running_var = m[3];
    nl_backward_args b = {.x = m[0], .dy = m[4], .rstd = m[5], .dx = m[1]};
    if (is_centred(p)) b.mean = m[6];
    given = 0;
    if ((backward ? nl_backward(impl, p, &b, threads) : nl_forward(impl, p, &f, threads)) != NL_OK)
        cr_assert_fail("%s: %s", impl->name, nl_message());
    return given;
}

static nl_impl probe = {.isa = "c",
                        .about = "notes its threads",
                        .ops = NL_BIT(NL_OPS) - 1,
                        .passes = NL_BIT(NL_PASSES) - 1,
                        .dtypes = NL_BIT(NL_DTYPES) - 1,
                        .rank = -1,
                        .threaded = true,
                        .lanes = 1,
                        .forward = note_forward,
                        .backward = note_backward};

/* Under the name of the rung that nl_best() forks with, and under a name it does not know. */
static void check_threads(nl_problem p) {
    char name[64];
    const nl_tuning all = {0};
    nl_tuning_use(&all);
    snprintf(name, sizeof name, "%s", nl_best(&p, 2)->name);
    nl_tuning_use(&tuning);
    for (int threads = 1; threads <= 3; threads++)
        for (int known = 0; known <= 1; known++) {
            probe.name = known ? name : "test/probe";
            const int want = known && !forks(&p, threads) ? 1 : threads;
            const int got = threads_of(&probe, &p, threads);
            if (got != want)
                cr_assert_fail("%s on %s %s %zux%zux%zu got %d of %d threads, not %d", probe.name,
                               nl_op_name(p.op), nl_pass_name(p.pass), p.n, p.c, p.s, got, threads,
                               want);
        }
}

Test(routing, threads_from_the_tuned_size_on) {
    if (!nl_has_openmp()) cr_skip_test("built without OpenMP");
    for (size_t j = 0; j < JOBS; j++) walk(&jobs[j], NL_F32, check_threads);
}

Test(routing, what_does_not_fit_is_refused) {
    size_t limited = 0;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (!m->c_max || !nl_isa_runs(m->isa)) continue;
        nl_problem p = {.op = NL_LAYERNORM, .n = 2, .c = m->c_max, .s = 1, .eps = 1e-5f};
        p.pass = m->backward ? NL_BACKWARD : NL_FORWARD;
        if (!(m->dtypes & NL_BIT(NL_F32))) p.dtype = NL_F16;
        cr_assert(nl_accepts(m, &p) && threads_of(m, &p, 1) == 0, "%s@%s", m->name, m->isa);
        p.c++, limited++;
        nl_status status = m->backward ? nl_backward(m, &p, &(nl_backward_args){0}, 1)
                                       : nl_forward(m, &p, &(nl_forward_args){0}, 1);
        cr_assert(!nl_accepts(m, &p) && status == NL_UNSUPPORTED, "%s@%s takes c = %zu", m->name,
                  m->isa, p.c);
        char c[32];
        snprintf(c, sizeof c, "c is %zu", p.c);
        cr_assert(strstr(nl_message(), c), "\"%s\" does not say %s", nl_message(), c);
    }
    cr_assert(limited > 0 || !rung("rows_simd"), "nothing is limited");
}
