/* Harmful kernels: each must get the right verdict, and the harness must survive.
 * SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* feenableexcept, pthread_getattr_np */
#endif
#include "benched.h"
#include "trial.h"

#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(hostile, .init = one_thread);

/* The arguments of the kernel that this thread runs, for any pass. */
typedef struct call {
    const nl_problem *p;
    const void *arguments;
    const float *x, *gamma;
    float *out; /* y or dx */
    char *scratch;
} call;

static _Thread_local call c;

static volatile float sink;

/* The index just after the end of x and of y or dx. */
static size_t past(void) {
    return c.p->n * c.p->c;
}

static float *volatile nowhere;

static int recurse(volatile char *before, int depth) {
    volatile char room[4096];
    room[0] = before[0];
    return depth < 0 ? 0 : 1 + recurse(room, depth + 1) + room[0];
}

static void *wait_long(void *unused) {
    sleep(20);
    return unused;
}

/* An address just above the stack. A write there, far from all buffers, must be noticed. */
static volatile char *above_stack(void) {
    pthread_attr_t stack;
    void *at;
    size_t bytes;
    pthread_getattr_np(pthread_self(), &stack);
    pthread_attr_getstack(&stack, &at, &bytes);
    return (char *)at + bytes + 1;
}

static void go_on(int number) {
    (void)number;
}

#define HARM(name, where, why, ...) \
    static void name(void) {        \
        __VA_ARGS__;                \
    }
#include "hostile.inc"
#undef HARM

static void write_pages_past(void) {
    c.out[past() + 1040] = 1;
}

static void (*now)(void);

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    c = (call){p, a, a->x, a->gamma, a->y, a->scratch}, now();
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    c = (call){p, a, a->x, a->gamma, a->dx, a->scratch}, now();
}

static size_t scratch(const nl_problem *p) {
    (void)p;
    return 64;
}

static const nl_impl kernel =
    TEST_IMPL(.name = "hostile", .method = NL_TWO_PASS, .forward = forward, .backward = backward,
              .scratch = scratch);

static const struct {
    void (*kernel)(void);
    placement where;
    const char *why;
} mistakes[] = {
#define HARM(name, where, why, ...) {name, PLACE_##where, why},
#include "hostile.inc"
};

static const struct {
    const char *text, *out;
} passes[] = {{"layernorm/forward/f32/5x24/normal", "y"},
              {"rmsnorm/backward/f32/5x24/normal", "dx"},
              {"batchnorm/inference/f32/5x24/normal", "y"}};

Test(hostile, every_mistake_is_named) {
    size_t named = 0, all = 0;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        trial t;
        trial_make(&t, passes[i].text);
        for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
            char expected[100];
            now = mistakes[k].kernel;
            if (now == loop && i > 0) continue; /* stopping an endless loop takes seconds */
            const verdict v = verify(&t.c, &t.data, &t.want, &kernel, mistakes[k].where, 1);
            snprintf(expected, sizeof expected, mistakes[k].why, passes[i].out);
            char *other = strchr(expected, '|');
            if (other) *other++ = '\0';
            const bool good = v.outcome == OUTCOME_FAIL &&
                              (strstr(v.why, expected) || (other && strstr(v.why, other)));
            cr_expect(good, "%s: %s: '%s', not '%s'", passes[i].text, outcome_name(v.outcome),
                      v.why, expected);
            named += good, all++;
        }
        trial_end(&t);
    }
    fprintf(stderr, "%zu of %zu mistakes were named\n", named, all);
    cr_assert(named == all && all >= 40);
}

static size_t much_scratch(const nl_problem *p) {
    (void)p;
    return SIZE_MAX / 1024;
}

/* After y's guard page comes the memory of dx, which forward does not use. A kernel may also
 * request too much scratch. */
Test(hostile, no_absent_buffer_and_no_huge_one) {
    trial t;
    trial_make(&t, passes[0].text);
    now = write_pages_past;
    verdict v = verify(&t.c, &t.data, &t.want, &kernel, PLACE_END, 1);
    cr_expect(v.outcome == OUTCOME_FAIL && strstr(v.why, "far from all its buffers"), "%s", v.why);
    nl_impl greedy = kernel;
    greedy.scratch = much_scratch;
    v = verify(&t.c, &t.data, &t.want, &greedy, PLACE_END, 1);
    cr_expect(v.outcome == OUTCOME_FAIL && strstr(v.why, "more than 1 GiB"), "%s", v.why);
    trial_end(&t);
}

/* Like check, bench makes its first call in a child process, even if the case is too large to
 * copy. */
Test(hostile, bench_lives_on) {
    static const char *const cases[] = {"rmsnorm/forward/f32/5x24/normal",
                                        "rmsnorm/forward/f32/2049x1024/normal"};
    cr_assert(nl_registry_add(&kernel));
    for (int i = 0; i < 2; i++) {
        char error[700];
        nl_case one;
        cr_assert(case_parse(cases[i], &one, error, sizeof error));
        now = i ? write_far_past : read_past;
        const verdict v = bench_verdict(&one, kernel.name);
        const char *expected = i ? "wrote y[1123] of row 2048" : "read x[24] of row 4";
        cr_expect(v.outcome == OUTCOME_FAIL && strstr(v.why, expected), "%s", v.why);
    }
}
