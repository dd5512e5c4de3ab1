/* Tests properties of the dispatch on random problems and on both sides of each threshold.
 * SPDX-License-Identifier: MIT */
#include "best.h"
#include "caches.h"
#include "jobs.h"
#include "registry.h"
#include "trial.h"

#include <stdio.h>

/* Thresholds are low, so that shapes can be small. */
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
    char path[80];
    snprintf(path, sizeof path, "optimized/%s", name);
    return nl_find(path, nl_isa_best());
}

static void need_optimized(void) {
    if (!rung("rows_simd")) cr_skip_test("optimized/ is not compiled for %s", nl_isa_best());
}

/* A problem of at most about 2^bits elements. Widths are typical of models, short, or arbitrary. */
static nl_problem draw(uint64_t i, int bits) {
    const struct job *job = &jobs[below(JOBS, 1, i)];
    nl_problem p = {.op = job->op, .pass = job->pass, .s = 1, .eps = 1e-5f, .momentum = 0.1f};
    p.dtype = (nl_dtype)below(NL_DTYPES, 2, i);
    p.stores = (nl_stores)below(NL_STORES_IN_PLACE + 1, 3, i);
    const size_t elements = (size_t)1 << below((size_t)bits + 1, 4, i);
    const size_t lines = 16 * (1 + below(512, 5, i)), shortest = 1 + below(300, 6, i);
    const size_t widths[] = {lines, shortest, lines + 1 - below(3, 7, i)};
    p.c = widths[below(3, 8, i)];
    if (p.op == NL_BATCHNORM) p.s = 1 + below(2, 9, i) * below(200, 10, i);
    p.n = elements / (p.c * p.s) + 1 + below(3, 11, i);
    if (p.n * p.s == 1) p.n = 2;
    return p;
}

#define HOLDS(what, ...)                                                                 \
    if (!(what))                                                                         \
    cr_assert_fail("%s, stores %d, %d threads: %s", spelled(&p), (int)p.stores, threads, \
                   __VA_ARGS__)

enum { DRAWS = 20000 };

Test(routing, what_is_chosen_fits) {
    need_optimized();
    for (int set = 0; set < 2; set++) {
        if (set) nl_tuning_use(&(nl_tuning){1 << 20, 1 << 20, 1 << 20, 1 << 15, 1 << 18, 1 << 18});
        for (uint64_t i = 0; i < DRAWS; i++) {
            nl_problem p = draw(i, 26);
            const int threads = 1 + (int)below(4, 12, i);
            const nl_impl *best = nl_best(&p, threads);
            HOLDS(best && nl_accepts(best, &p) && nl_is_own(best),
                  "the choice does not accept the problem");
            HOLDS(!strcmp(best->isa, nl_isa_best()) && !best->demonstration, best->name);
            HOLDS(threads > 1 || !best->threaded, "one thread gets a threaded rung");
            const nl_plan plan = nl_plan_of(best, &p, threads);
            HOLDS(plan.threads >= 1 && plan.threads <= (best->threaded ? threads : 1), best->name);
            const bool streams = best->heeds_stores ? plan.streams : best->streams;
            HOLDS(p.stores == NL_STORES_AUTO || streams == (p.stores == NL_STORES_STREAMING),
                  "the problem's stores are ignored");
            HOLDS(!plan.each == !(best->threaded && p.op != NL_BATCHNORM), best->name);
            if (!plan.each) continue;
            HOLDS(!plan.each->threaded && nl_accepts(plan.each, &p), plan.each->name);
            HOLDS(!strcmp(plan.each->isa, best->isa), plan.each->name);
            HOLDS(plan.streams || !plan.each->streams, plan.each->name);
        }
    }
}

static bool streams(const nl_problem *p) {
    const nl_impl *best = nl_best(p, 1);
    return best->streams || nl_plan_of(best, p, 1).streams;
}

/* If a problem runs on threads or streams, so does the same problem with more rows. */
Test(routing, grows_with_the_rows) {
    need_optimized();
    for (uint64_t i = 0; i < DRAWS; i++) {
        nl_problem p = draw(i, 18), q = p;
        const int threads = 2;
        p.stores = q.stores = NL_STORES_AUTO;
        q.n += 1 + below(100, 13, i);
        HOLDS(!nl_best(&p, 2)->threaded || nl_best(&q, 2)->threaded, "more rows, fewer threads");
        HOLDS(!streams(&p) || streams(&q), "with more rows it does not stream");
    }
}

/* The rung that each thread runs must add in the same order as the choice for one thread. In
 * forward only rows_registers has its own order; in backward any two rungs may add dgamma
 * differently. */
Test(routing, threads_change_no_order) {
    need_optimized();
    for (uint64_t i = 0; i < DRAWS; i++) {
        nl_problem p = draw(i, 20);
        const int threads = 2 + (int)below(3, 12, i);
        const nl_impl *best = nl_best(&p, threads), *alone = nl_best(&p, 1);
        if (!best->threaded || p.op == NL_BATCHNORM) continue;
        const nl_impl *each = nl_plan_of(best, &p, threads).each;
        const nl_impl *registers = rung("rows_registers");
        HOLDS(p.pass != NL_BACKWARD || each == alone, each->name);
        HOLDS((each == registers) == (alone == registers), each->name);
    }
}

/* The order of additions must not depend on the number of rows, the gaps or the stores. Some gaps
 * must change the choice, but only to a rung that adds in the same order. */
Test(routing, rows_and_gaps_change_no_order) {
    need_optimized();
    const nl_impl *registers = rung("rows_registers"), *prefetch = rung("rows_prefetch");
    const int threads = 1;
    size_t gaps = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        nl_problem p = draw(i, 27), one = p;
        if (p.op == NL_BATCHNORM || p.pass != NL_FORWARD) continue;
        const nl_impl *packed = nl_best(&p, threads);
        p.x_stride.row = p.c + below(2 * p.c, 13, i);
        one.n = 1, one.stores = NL_STORES_AUTO;
        const nl_impl *best = nl_best(&p, threads), *alone = nl_best(&one, threads);
        HOLDS((best == registers) == (alone == registers), best->name);
        gaps += best == prefetch && packed != prefetch;
    }
    cr_assert(gaps || rung("rows_kept")->c_max < 128, "no gap changes the choice");
}

/* Narrow rows do not stream if gaps make them share cache lines, and short runs of strided rows do
 * not stream. A stride of c is no gap. */
Test(routing, some_strided_rows_do_not_stream) {
    need_optimized();
    const int threads = 1;
    size_t gaps[2] = {0}, runs = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        nl_problem p = draw(i, 27);
        if (p.op == NL_BATCHNORM || p.op > NL_QWEN2_RMSNORM) continue;
        p.stores = NL_STORES_AUTO;
        const bool packed = streams(&p), wide = p.dtype == NL_F32;
        p.y_stride.row = p.c;
        HOLDS(streams(&p) == packed, "a stride of c changes the stores");
        p.y_stride.row = (p.c | 1) + 2 + 2 * below(p.c, 13, i);
        if (p.c <= (wide ? 256 : 512) && (!wide || p.pass == NL_FORWARD)) {
            HOLDS(!streams(&p), "rows that share lines stream");
            gaps[wide] += packed;
        }
        p.inner = 2, p.n *= 2, p.y_stride = (nl_stride){p.c, 5 * p.c};
        if (p.pass == NL_BACKWARD || 2 * p.c * nl_dtype_size(p.dtype) >= 8192) continue;
        HOLDS(!streams(&p), "short runs stream");
        runs += packed;
    }
    cr_assert(gaps[0] && gaps[1] && runs, "the strides change nothing");
}

/* In place, f32 rows from memory are prefetched. Other f32 rows are pipelined, even if x and a
 * separate y would together be too large for a cache. */
Test(routing, in_place_counts_one_tensor) {
    need_optimized();
    const nl_impl *certified = rung("rows_certified"), *prefetch = rung("rows_prefetch");
    const int threads = 1;
    size_t others[2] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        nl_problem p = draw(i, 20);
        if (p.op == NL_BATCHNORM || p.op > NL_QWEN2_RMSNORM || p.pass != NL_FORWARD ||
            p.dtype != NL_F32)
            continue;
        const bool large = below(2, 13, i);
        if (large) p.n = nl_caches_now()->last / sizeof(float) / p.c + 1;
        p.stores = NL_STORES_CACHED;
        const nl_impl *apart = nl_best(&p, threads);
        p.stores = NL_STORES_IN_PLACE;
        const nl_impl *best = nl_best(&p, threads);
        HOLDS(best != certified || p.c < 3 * (size_t)certified->lanes, "two tensors are counted");
        HOLDS(!large || best == prefetch || best == rung("rows_registers"), best->name);
        others[large] += best != apart;
    }
    cr_assert(others[0] && others[1], "the choice in place is never another");
}

/* If a threaded rung of a narrower instruction set is named, its threads stay in that set. */
Test(routing, threads_stay_in_the_instruction_set) {
    need_optimized();
    for (size_t m = 0; m < nl_impl_count(); m++) {
        const nl_impl *impl = nl_impl_at(m);
        if (strstr(impl->name, "rows_threaded") || strstr(impl->name, "rows_backward_threaded")) {
            nl_problem p = {.op = NL_LAYERNORM, .n = 64, .c = 300, .s = 1, .eps = 1e-5f};
            p.pass = impl->backward ? NL_BACKWARD : NL_FORWARD;
            const nl_impl *each = nl_plan_of(impl, &p, 2).each;
            cr_assert(each && !strcmp(each->isa, impl->isa), "%s@%s", impl->name, impl->isa);
        }
    }
}

/* Each line of choices[] has an effect: its rung is chosen for some problem. */
Test(routing, every_choice_is_taken) {
    need_optimized();
    if (rung("rows_simd")->lanes < 8)
        cr_skip_test("too few draws fit in the registers of short vectors");
    FILE *source = fopen(NL_SOURCE_DIR "/core/best.c", "r");
    char line[256], name[64];
    bool taken[512] = {false};
    nl_tuning_use(&(nl_tuning){nl_caches_now()->last / 2, nl_caches_now()->last / 2,
                               nl_caches_now()->last / 2, 1 << 15, 1 << 18, 1 << 18});
    cr_assert(source && nl_impl_count() < 512);
    for (uint64_t i = 0; i < 10 * DRAWS; i++) {
        const nl_problem p = draw(i, 27);
        const nl_impl *best = nl_best(&p, 1 + (int)below(2, 12, i));
        for (size_t k = 0; k < nl_impl_count(); k++) taken[k] |= nl_impl_at(k) == best;
    }
    size_t choices = 0;
    while (fgets(line, sizeof line, source)) {
        if (sscanf(line, " {\"optimized/%63[^\"]\"", name) != 1) continue;
        if (strstr(name, "kept_prefetch") && !nl_caches_now()->is_far) continue; /* KEPT_FAR */
        size_t k = 0;
        while (k < nl_impl_count() && nl_impl_at(k) != rung(name)) k++;
        if (!taken[k]) cr_assert_fail("%s is never taken", name);
        choices++;
    }
    fclose(source);
    cr_assert(choices > 10, "core/best.c has no choices[]");
}

Test(routing, last_level_is_bounded) {
    const size_t known = nl_cache_bytes(3), all = nl_caches_now()->last, mib = 1 << 20;
    cr_assert(all >= 8 * mib && all <= 64 * mib);
    if (!known) cr_assert_eq(all, 16 * mib);
    if (known >= 8 * mib && known <= 64 * mib) cr_assert_eq(all, known);
}

/* Calls `called` (NULL: nl_best()'s choice) with the scratch of impl. */
static void run(trial *t, const char *text, const nl_impl *impl, const nl_impl *called,
                int threads) {
    trial_make_calls(t, text);
    trial_place(t, impl);
    t->in.impl = called;
    nl_status status = instance_call(&t->in, threads);
    if (status != NL_OK) cr_assert_fail("%s on %s: %s", impl->name, text, nl_message());
}

static bool same_rows(const trial *a, const trial *b) {
    const nl_arg out = a->c.problem.pass == NL_BACKWARD ? NL_DX : NL_Y;
    return memcmp(a->in.at[out], b->in.at[out], a->data.bytes[out]) == 0;
}

/* If no implementation is named, the rung of nl_best() runs. Stores and threads change no bit of y
 * and dx; in forward not even if they change the choice of the rung. */
Test(routing, what_is_named_runs) {
    need_optimized();
    for (uint64_t i = 0; i < 600; i++) {
        const nl_problem p = draw(i, 14);
        const int threads = 1 + (int)(i % 3);
        char text[160];
        snprintf(text, sizeof text, "%s/normal", spelled(&p));
        nl_problem q = p;
        q.stores = NL_STORES_AUTO;
        const nl_impl *best = nl_best(&q, threads), *alone = nl_best(&q, 1);
        trial unnamed, named, single;
        run(&unnamed, text, best, NULL, threads);
        run(&named, text, best, best, threads);
        run(&single, text, alone, alone, 1);
        HOLDS(same_results(&unnamed, &named), best->name);
        HOLDS(same_rows(&named, &single), "threads change bits");
        trial_end(&named), trial_end(&unnamed), trial_end(&single);
    }
}

/* rows_streaming, which streams rows in groups, gives the bits of rows_certified, which takes each
 * row alone, even if some rows are not finite. */
Test(routing, wide_rows) {
    static const char *const cases[] = {"f32/12x10243x1/nan",
                                        "f32/12x10243x1/nan/residual/in-place",
                                        "bf16/6x10240x1/normal/in-place", "f32/5x70001x1/normal",
                                        "f16/2x40000x1/inf"};
    const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM, NL_QWEN2_RMSNORM};
    need_optimized();
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

static int given;
static bool streamed;

static void note_forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)p, streamed = a->plan->streams, given = threads;
}

static void note_backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)p, streamed = a->plan->streams, given = threads;
}

/* In place, stores do not stream unless the caller asks, since their cache lines were just read. */
Test(routing, nothing_streams_in_place) {
    enum { N = 64, C = 256 };
    static const nl_impl spy =
        TEST_IMPL(.heeds_stores = true, .forward = note_forward, .backward = note_backward);
    static float x[N * C], dy[N * C], dresidual[N * C], y[N * C], gamma[C], mean[N], rstd[N];
    void *const outputs[][3] = {{y, x, x}, {y, dy, dresidual}};
    nl_problem p = {.op = NL_LAYERNORM, .n = N, .c = C, .s = 1, .eps = 1e-5f};
    for (int i = 0; i < 3 * (NL_STORES_IN_PLACE + 1); i++) {
        p.stores = (nl_stores)(i / 3);
        const bool expected =
            p.stores == NL_STORES_AUTO ? i % 3 == 0 : p.stores == NL_STORES_STREAMING;
        const nl_forward_args f = {.x = x, .y = outputs[0][i % 3]};
        p.pass = NL_FORWARD;
        cr_assert_eq(nl_forward(&spy, &p, &f, 1), NL_OK, "%s", nl_message());
        cr_expect(streamed == expected, "forward, stores %d, output %d", i / 3, i % 3);
        const nl_backward_args b = {.x = x,
                                    .dy = dy,
                                    .dresidual = dresidual,
                                    .gamma = gamma,
                                    .mean = mean,
                                    .rstd = rstd,
                                    .dx = outputs[1][i % 3]};
        p.pass = NL_BACKWARD;
        cr_assert_eq(nl_backward(&spy, &p, &b, 1), NL_OK, "%s", nl_message());
        cr_expect(streamed == expected, "backward, stores %d, output %d", i / 3, i % 3);
    }
}

static float memory[NL_ARGS][40000];

/* The number of threads that an implementation gets if the caller allows `threads`. */
static int threads_of(const nl_impl *impl, const nl_problem *p, int threads) {
    void *at[NL_ARGS];
    for (nl_arg a = 0; a < NL_ARGS; a++) at[a] = memory[a];
    given = 0;
    if (call_with(impl, p, threads, at) != NL_OK)
        cr_assert_fail("%s: %s", impl->name, nl_message());
    return given;
}

static nl_impl probe =
    TEST_IMPL(.threaded = true, .forward = note_forward, .backward = note_backward);

/* Gives the probe a name that nl_best() never chooses, then the name of nl_best()'s rung for
 * threads. */
static void check_threads(nl_problem p) {
    char name[64];
    const nl_tuning all = {0};
    nl_tuning_use(&all);
    snprintf(name, sizeof name, "%s", nl_best(&p, 2)->name);
    nl_tuning_use(&tuning);
    for (int threads = 1; threads <= 3; threads++)
        for (int known = 0; known <= 1; known++) {
            probe.name = known ? name : "test/probe";
            const int want = known && !nl_best(&p, threads)->threaded ? 1 : threads;
            const int got = threads_of(&probe, &p, threads);
            if (got != want)
                cr_assert_fail("%s on %s got %d of %d threads, not %d", probe.name, spelled(&p),
                               got, threads, want);
        }
}

Test(routing, threads_from_the_tuned_size_on) {
    if (!nl_has_openmp()) cr_skip_test("built without OpenMP");
    need_optimized();
    for (uint64_t i = 0; i < 2000; i++) {
        nl_problem p = draw(i, 13);
        p.dtype = NL_F32, p.stores = NL_STORES_AUTO;
        const bool small = p.n * p.c * p.s <= sizeof *memory / sizeof **memory;
        if (small && !is_gated(&p)) check_threads(p); /* the gated layers have no threaded rung */
    }
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
