/* Faults that a single call does not show: two callers at once, a race, fewer threads, writes after
 * scratch. Each kernel computes with rmsnorm/naive. SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getcpu() */
#endif
#include "trial.h"
#include "verify/isolate.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

TestSuite(pair, .init = one_thread);

typedef void kernel(const nl_problem *p, const nl_forward_args *a, int threads);

static void naive(const nl_problem *p, const nl_forward_args *a) {
    nl_forward(nl_find("rmsnorm/naive", "c"), p, a, 1);
}

static verdict try_kernel(const char *text, kernel *forward, int threads, bool threaded,
                          size_t (*scratch)(const nl_problem *)) {
    const nl_impl impl = TEST_IMPL(.name = "test/pair", .method = NL_TWO_PASS, .threaded = threaded,
                                   .forward = forward, .scratch = scratch);
    trial t;
    trial_make(&t, text);
    const verdict v = verify(&t.c, &t.data, &t.want, &impl, PLACE_START, threads);
    trial_end(&t);
    isolate_end();
    return v;
}

#define EXPECT_OK(v) cr_expect((v).outcome == OUTCOME_OK, "%s", (v).why)
/* On a busy machine two callers do not always overlap, so a race gets three tries. */
#define EXPECT_FAIL(v, what)                                                                  \
    do {                                                                                      \
        verdict got = (v);                                                                    \
        for (int i = 1; i < 3 && got.outcome != OUTCOME_FAIL; i++) got = (v);                 \
        cr_expect(got.outcome == OUTCOME_FAIL && strstr(got.why, what), "not '%s': %s", what, \
                  got.why);                                                                   \
    } while (0)

/* Keeps x in a buffer. */
static void by_buffer(const nl_problem *p, const nl_forward_args *a, float *kept) {
    const size_t bytes = p->n * p->c * sizeof *kept;
    nl_forward_args of = *a;
    memcpy(kept, a->x, bytes);
    of.x = kept;
    naive(p, &of);
}

static void one_buffer(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    static float kept[16384];
    by_buffer(p, a, kept);
}

/* Uses the shared buffer only for calls in place. */
static void one_buffer_in_place(const nl_problem *p, const nl_forward_args *a, int threads) {
    const bool in_place = a->x == a->y || (a->residual && a->residual == a->residual_out);
    in_place ? one_buffer(p, a, threads) : naive(p, a);
}

static void own_buffer(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    static _Thread_local float kept[16384];
    by_buffer(p, a, kept);
}

Test(pair, a_static_buffer_shows) {
    const char *text = "rmsnorm/forward/f32/16x1024/normal";
    EXPECT_FAIL(try_kernel(text, one_buffer, 1, false, NULL), "another thread calls it too");
    EXPECT_OK(try_kernel(text, own_buffer, 1, false, NULL));
    EXPECT_FAIL(try_kernel(text, one_buffer, 2, true, NULL), "another thread calls it too");
    EXPECT_FAIL(try_kernel("rmsnorm/forward/f32/16x1024/normal/no-affine", one_buffer, 1, false,
                           NULL),
                "another thread calls it too");
    EXPECT_OK(try_kernel(text, one_buffer_in_place, 1, false, NULL));
    text = "rmsnorm/forward/f32/16x1024/normal/in-place";
    EXPECT_FAIL(try_kernel(text, one_buffer_in_place, 1, false, NULL),
                "another thread calls it too");
    EXPECT_OK(try_kernel(text, own_buffer, 1, false, NULL));
    text = "rmsnorm/forward/f32/16x1024/normal/residual/in-place=residual";
    EXPECT_FAIL(try_kernel(text, one_buffer_in_place, 1, false, NULL),
                "another thread calls it too");
}

/* Caches a factor for the last shape. */
static void by_shape(const nl_problem *p, const nl_forward_args *a, int threads) {
    static volatile size_t last;
    static volatile float scale;
    (void)threads;
    if (last != p->c) last = p->c, scale = 1;
    naive(p, a);
    for (size_t i = 0; i < p->n * p->c; i++) ((float *)a->y)[i] *= last == p->c ? scale : 0;
}

/* Caches y, and returns it if x has the same address and the same first and last value. */
static void by_address(const nl_problem *p, const nl_forward_args *a, int threads) {
    static const float *at;
    static float ends[2], kept[4096];
    const float *x = a->x;
    const size_t count = p->n * p->c;
    (void)threads;
    naive(p, a);
    if (at == x && ends[0] == x[0] && ends[1] == x[count - 1])
        memcpy(a->y, kept, count * sizeof *kept);
    at = x, ends[0] = x[0], ends[1] = x[count - 1];
    memcpy(kept, a->y, count * sizeof *kept);
}

/* In calls in place, caches a factor of row 0, and uses it if x has the same address. */
static void by_address_in_place(const nl_problem *p, const nl_forward_args *a, int threads) {
    static const float *at;
    static float kept;
    const bool in_place = a->x == a->y;
    (void)threads;
    naive(p, a);
    if (in_place && at == a->y)
        for (size_t i = 0; i < p->c; i++) ((float *)a->y)[i] *= kept / a->rstd[0];
    if (in_place) at = a->y, kept = a->rstd[0];
}

Test(pair, what_is_kept_of_a_call_shows) {
    EXPECT_FAIL(try_kernel("rmsnorm/forward/f32/16x1024/normal", by_shape, 1, false, NULL),
                "another thread calls it too");
    EXPECT_FAIL(try_kernel("rmsnorm/forward/f32/3x100/normal", by_address, 1, false, NULL), "");
    const char *text = "rmsnorm/forward/f32/3x100/normal/in-place";
    EXPECT_FAIL(try_kernel(text, by_address_in_place, 1, false, NULL), "y[0]");
    text = "rmsnorm/forward/f32/3x100/normal/residual/in-place=residual";
    EXPECT_FAIL(try_kernel(text, by_address, 1, false, NULL), "");
}

#ifdef __linux__
static void binds(const nl_problem *p, const nl_forward_args *a, int threads) {
    cpu_set_t one;
    (void)threads;
    naive(p, a);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

Test(pair, a_thread_that_stays_bound) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) == 0 && CPU_COUNT(&all) < 2) return;
    EXPECT_FAIL(try_kernel("rmsnorm/forward/f32/3x100/normal", binds, 1, false, NULL), "bound to");
}
#endif

/* frees() frees its memory, so it must pass, although malloc() does not return small blocks to the
 * system and OpenMP's runtime keeps some bytes for a team of one. keeps() leaks on wide rows. */
static void frees(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    free(calloc(p->c, sizeof(float)));
#ifdef _OPENMP
#pragma omp parallel num_threads(1)
#endif
    naive(p, a);
}

static void keeps(const nl_problem *p, const nl_forward_args *a, int threads) {
    static void *volatile kept;
    (void)threads;
    if (p->c > 8192) kept = calloc(p->c, sizeof(float));
    if (kept) naive(p, a);
}

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__
enum { MALLOC_COUNTS = 1 };
#else
enum { MALLOC_COUNTS = 0 };
#endif

static void keeps_on_threads(const nl_problem *p, const nl_forward_args *a, int threads) {
    static void *volatile kept;
    if (threads > 1) kept = malloc(64);
    if (threads == 1 || kept) naive(p, a);
}

Test(pair, memory_that_is_kept) {
    verdict v = try_kernel("rmsnorm/forward/f32/2x12000/normal", keeps, 1, false, NULL);
    if (MALLOC_COUNTS) EXPECT_FAIL(v, "does not free it");
    v = try_kernel("rmsnorm/forward/f32/3x7/normal", keeps_on_threads, 2, true, NULL);
    if (MALLOC_COUNTS && nl_has_openmp()) EXPECT_FAIL(v, "does not free it");
    for (int c = 1; c < 40; c++) {
        char text[60];
        snprintf(text, sizeof text, "rmsnorm/forward/f32/2x%d/normal", c);
        EXPECT_OK(try_kernel(text, frees, 1, true, NULL));
    }
}

/* If threads add in any order, the last bits vary, which is allowed. */
static void any_order(const nl_problem *p, const nl_forward_args *a, int threads) {
    static int calls;
    float *y = a->y;
    naive(p, a);
    if (threads > 1 && ++calls % 2) y[3] = nextafterf(y[3], 9);
}

Test(pair, any_order_of_threads_is_right) {
    EXPECT_OK(try_kernel("rmsnorm/forward/f32/16x1024/normal", any_order, 2, true, NULL));
}

/* Wrong in one call of seven, as if by a race. */
static void seldom(const nl_problem *p, const nl_forward_args *a, int threads) {
    static int calls;
    (void)threads;
    naive(p, a);
    if (++calls % 7 == 0) ((float *)a->y)[5] += 1;
}

Test(pair, threaded_kernels_are_called_again_and_again) {
    const char *text = "rmsnorm/forward/f32/4x24/normal/threads=2";
    EXPECT_FAIL(try_kernel(text, seldom, 2, true, NULL), "y[");
    EXPECT_OK(try_kernel(text, seldom, 2, false, NULL)); /* one call */
}

/* If OpenMP grants fewer threads, the rows of the missing threads are not computed. */
static void foresees_a_team(const nl_problem *p, const nl_forward_args *a, int threads) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        int mine = 0;
#ifdef _OPENMP
        mine = omp_get_thread_num();
#endif
        for (size_t r = (size_t)mine; r < p->n; r += (size_t)threads) {
            nl_problem row = *p;
            nl_forward_args of = *a;
            row.n = 1;
            of.x = (const float *)a->x + r * p->c, of.y = (float *)a->y + r * p->c;
            of.rstd = a->rstd + r;
            naive(&row, &of);
        }
    }
}

Test(pair, a_team_may_be_smaller) {
#ifndef _OPENMP
    cr_skip_test("built without OpenMP");
#endif
    EXPECT_OK(
        try_kernel("rmsnorm/forward/f32/9x24/normal/threads=4", foresees_a_team, 4, true, NULL));
    for (int team = 1; team < 4; team++) {
        char text[100];
        sprintf(text, "rmsnorm/forward/f32/9x24/normal/threads=4/team=%d", team);
        EXPECT_FAIL(try_kernel(text, foresees_a_team, 4, true, NULL), "should be");
    }
}

static size_t odd_scratch(const nl_problem *p) {
    (void)p;
    return 36;
}

static void fills_scratch(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    memset(a->scratch, 1, 36);
    naive(p, a);
}

static void exceeds_scratch(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    memset(a->scratch, 1, 37);
    naive(p, a);
}

Test(pair, scratch_ends_where_it_was_asked_to) {
    const char *text = "rmsnorm/forward/f32/3x24/normal";
    EXPECT_OK(try_kernel(text, fills_scratch, 1, false, odd_scratch));
    EXPECT_FAIL(try_kernel(text, exceeds_scratch, 1, false, odd_scratch), "past its scratch");
}
