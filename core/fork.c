/* Calls of about the same size are timed on one thread and on all threads. The faster way is used.
 * The slower way is tried again for 1 % of the time, since the machine's load and the way threads
 * wait may change. SPDX-License-Identifier: MIT */
#include "fork.h"

#include <stdint.h>
#include <time.h>

enum { ONE, ALL };
enum { TRIES = 4, PAUSE = 8 * TRIES, LAST = 3, PLACES = 64 };

/* On one thread only one call in TIMED is timed: reading the clock costs 2 % of a 3 us call. */
enum { TIMED = 8 };

/* Keeps the last three times of each way, in ns per element. The median of the three decides,
 * because another program can slow down a single call. After a switch the first calls find their
 * data in another core's cache, so a way is kept for TRIES calls. */
typedef struct nl_fork_times {
    uint64_t key;
    int threads;
    float ns[2][LAST];
    float credit;  /* ns that trying the slower way may cost; negative: overspent */
    int left, way; /* way: ONE or ALL; left: how many more calls keep this way */
    bool trial;    /* is the way the slower one, on trial? */
    bool soon;     /* the other way was faster a moment ago */
    unsigned untimed;
} times;

/* Each calling thread has a table, because it has its own team of OpenMP threads. */
static _Thread_local times all[PLACES];

static uint64_t bits(size_t size) {
    return 64 - (uint64_t)__builtin_clzll(size);
}

static times *find(const nl_problem *p, int threads) {
    uint64_t key = ((uint64_t)p->op * NL_PASSES + p->pass) * NL_DTYPES + p->dtype + 1;
    key = key << 24 | bits(p->n) << 16 | bits(p->c) << 8 | bits(p->s);
    times *t = &all[key * 0x9e3779b97f4a7c15u >> 58];
    if (t->key != key || t->threads != threads)
        *t = (times){.key = key, .threads = threads, .left = TRIES, .way = ALL, .trial = true};
    return t;
}

static float usual(const times *t, int way) {
    const float a = t->ns[way][0], b = t->ns[way][1], c = t->ns[way][2];
    const float low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* ALL wins only if it saves a tenth of the time. The time of a way that was never timed is 0 ns. */
static int better(const times *t) {
    return usual(t, ALL) < 0.9f * usual(t, ONE) ? ALL : ONE;
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Another program may slow down two calls in a row. So a way that suddenly seems slower is tried
 * once more after PAUSE calls, unless the credit is too low. The time of the two slow calls is
 * subtracted from the credit. */
static void choose_way(times *t, float elements) {
    const int best = better(t), other = best == ONE ? ALL : ONE;
    const float *last = t->ns[t->way], slow = (last[0] + last[1]) * elements;
    const float of_best = usual(t, best) * elements;
    const bool back = t->way != best, first = of_best == 0;
    const bool due = t->soon || t->credit >= TRIES * usual(t, other) * elements;
    t->soon = back && !t->trial && t->credit - slow > -PAUSE * of_best;
    if (t->soon) t->credit -= slow;
    t->trial = first || (!back && due);
    if (back || due) t->left = t->soon ? PAUSE : TRIES, t->way = back ? best : other;
}

void nl_fork_begin(nl_fork *f, const nl_problem *p) {
    const size_t elements = p->n * p->c * p->s;
    if (elements >= NL_FORK_SURE) return;
    times *t = f->at = find(p, f->threads);
    f->elements = (double)elements;
    if (!t->left) choose_way(t, (float)elements);
    if (t->way == ONE) f->threads = 1;
    if (t->way == ONE && !t->left && t->untimed++ % TIMED) f->at = NULL;
    if (f->at) f->begin = now_ns();
}

void nl_fork_note(const nl_fork *f, double ns) {
    times *t = f->at;
    float *last = t->ns[t->way];
    last[2] = last[1], last[1] = last[0], last[0] = (float)(ns / f->elements);
    if (!t->left) {
        t->credit += 0.01f * (float)ns * (t->way == ONE ? TIMED : 1);
        return;
    }
    t->left--;
    /* Charges this call's own time, not the median of the last times: threads wake in 20 to
     * 300 us, so the median may be far too small. */
    if (usual(t, ONE) > 0 && t->way != better(t)) t->credit -= (float)ns;
}

void nl_fork_end(const nl_fork *f) {
    if (f->at) nl_fork_note(f, now_ns() - f->begin);
}
