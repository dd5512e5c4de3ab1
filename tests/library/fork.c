/* Simulates calls that take a given time on one thread and on two. The library must take the faster
 * way and notice changes. SPDX-License-Identifier: MIT */
#include "fork.h"

#include <criterion/criterion.h>

static nl_problem p = {.op = NL_LAYERNORM, .n = 64, .c = 1024, .s = 1};

static int timed;

/* Returns how many calls ran on both threads. */
static int call(int calls, double one_ns, double both_ns) {
    int forked = 0;
    timed = 0;
    for (int i = 0; i < calls; i++) {
        nl_fork f = {.threads = 2};
        nl_fork_begin(&f, &p);
        if (f.at) nl_fork_note(&f, f.threads == 2 ? both_ns : one_ns);
        forked += f.threads == 2;
        timed += f.at != NULL;
    }
    return forked;
}

/* Trials of the slower way take about one per cent of the time. */
Test(fork, takes_the_faster_way) {
    cr_expect_eq(call(8, 20, 100), 4, "both are tried");
    cr_expect_lt(call(10000, 20, 100), 25);
    p.n = 128;
    cr_expect_eq(call(8, 100, 20), 4, "another size is tried by itself");
    cr_expect_gt(call(10000, 100, 20), 9975);
    p.op = NL_RMSNORM;
    cr_expect_eq(call(8, 100, 96), 4, "another layer too");
    cr_expect_lt(call(10000, 100, 96), 125, "a small gain");
}

/* Returns the time of all calls. The first of four trials waits until a thread wakes; a median of
 * trials does not show this wait. */
static double given(int calls, double one_ns, double wake_ns, double both_ns) {
    double ns = 0;
    for (int i = 0, last = 1; i < calls; i++) {
        nl_fork f = {.threads = 2};
        nl_fork_begin(&f, &p);
        const double took = f.threads == 1 ? one_ns : last == 1 ? wake_ns : both_ns;
        if (f.at) nl_fork_note(&f, took);
        ns += took, last = f.threads;
    }
    return ns;
}

Test(fork, pays_for_slow_wakes) {
    given(8, 20, 1000, 30);
    cr_expect_lt(given(40000, 20, 1000, 30), 1.012 * 40000 * 20);
}

/* After each switch to two threads, five calls are faster than one thread; then two calls wait for
 * another program, and so on. */
Test(fork, pays_for_a_way_that_keeps_falling) {
    double ns = 0;
    for (int i = 0, after = 0; i < 40000; i++) {
        nl_fork f = {.threads = 2};
        nl_fork_begin(&f, &p);
        after = f.threads == 1 ? 0 : after + 1;
        const double took = f.threads == 1 ? 100 : after % 7 > 5 || after % 7 == 0 ? 1000 : 50;
        if (f.at) nl_fork_note(&f, took);
        ns += took;
    }
    cr_expect_lt(ns, 1.013 * 40000 * 100, "%g", ns);
}

Test(fork, notices_a_change) {
    call(20, 20, 100);
    cr_expect_eq(call(1900, 20, 10), 0);
    cr_expect_gt(call(1000, 20, 10), 850, "threads gain after all");
    cr_expect_lt(call(1000, 20, 100), 20, "and lose again");
}

Test(fork, few_slow_calls_decide_nothing) {
    call(100, 100, 20);
    call(1, 100, 8000);
    cr_expect_eq(call(50, 100, 20), 50);
    call(2, 100, 300);
    cr_expect_eq(call(100, 100, 20), 100 - 32, "two interrupt");
    call(2, 100, 300);
    cr_expect_eq(call(50, 100, 300), 4, "the way is tried once more");
    cr_expect_eq(call(100, 100, 20), 0, "more slow calls decide");
}

Test(fork, two_very_slow_calls_decide) {
    call(100, 100, 20);
    call(2, 100, 8000);
    cr_expect_eq(call(50, 100, 20), 0);
}

/* Reading the clock costs as much as a few rows, so most calls on one thread are not timed. */
Test(fork, times_few_calls_on_one_thread) {
    call(100, 20, 100);
    call(800, 20, 100);
    cr_expect(timed >= 100 && timed < 120, "%d", timed);
    p.n = 128;
    call(100, 100, 20);
    call(800, 100, 20);
    cr_expect_eq(timed, 800, "on two threads every call is timed");
}

Test(fork, large_problems_always_fork) {
    p.n = NL_FORK_SURE / 1024;
    cr_expect_eq(call(100, 1, 2), 100);
    p.n--;
    cr_expect_lt(call(100, 1, 2), 10);
}
