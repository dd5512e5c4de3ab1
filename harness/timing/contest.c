/* SPDX-License-Identifier: MIT */
#include "timing/contest.h"
#include "base/clock.h"
#include "base/random.h"
#include "best.h"
#include "platform/platform.h"
#include "timing/candidate.h"
#include "timing/limit.h"
#include "verify/caller.h"
#include "verify/isolate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Outputs with more elements than this are compared after a random half of the calls. */
enum { ALWAYS_COMPARED = 1 << 17 };

typedef struct field field;

typedef struct seat {
    field *of;
    caller calls;
    bool mine;
} seat;

struct field {
    contest *k;
    fixture f;
    nl_data other, drawn; /* a second set of data, and the inputs of the next call */
    seat seats[CONTENDERS];
    limit_candidate limits[2];
    uint64_t random;
    bool pending;     /* the outputs of MINE's last call must be compared */
    char broken[320]; /* the failure of one of our rungs */
};

/* A clock without the cost of the messages between the processes. Static, because the callbacks for
 * clock and interrupts get no context; a process runs one contest at a time. */
static double skipped, overhead;
static contest *running;

static double clock_of_calls(void) {
    return clock_ns() - skipped;
}

/* The next number of xorshift64*. No kernel can read its state. */
static uint64_t draw(field *d) {
    d->random ^= d->random >> 12, d->random ^= d->random << 25, d->random ^= d->random >> 27;
    return d->random * 0x2545f4914f6cdd1d;
}

static bool over(void) {
    return running->v.outcome == OUTCOME_FAIL || (running->interrupted && running->interrupted());
}

/* Draws each element of a tensor from one of two sets of data. In backward x is not redrawn, since
 * the saved statistics are x's. */
static void draw_inputs(field *d) {
    const nl_problem *p = &d->k->c->problem;
    const bool backward = p->pass == NL_BACKWARD;
    const size_t each = nl_dtype_size(p->dtype);
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        const char *a = d->f.data.input[s], *b = d->other.input[s];
        char *to = d->drawn.input[s];
        if (!to || nl_args[s].extent != NL_TENSOR || (backward && s == NL_X)) continue;
        uint64_t bits = 0;
        for (size_t i = 0; i < d->drawn.bytes[s] / each; i++, bits >>= 1) {
            if (i % 64 == 0) bits = draw(d);
            const char *from[2] = {b, a};
            if (each == 4) /* a constant size makes memcpy a move instead of a call */
                memcpy(to + 4 * i, from[bits & 1] + 4 * i, 4);
            else
                memcpy(to + each * i, from[bits & 1] + each * i, each);
        }
    }
}

/* Compares the outputs of MINE's last call with the reference on that call's inputs. */
static void compare(field *d) {
    contest *k = d->k;
    const nl_problem *p = &k->c->problem;
    instance *in = d->f.in;
    answer want;
    if (!d->pending) return;
    d->pending = false;
    if (p->n * p->c * p->s > ALWAYS_COMPARED && draw(d) >> 63) return;
    if (!answer_make(k->c, &d->drawn, &want)) {
        k->v = failure("out of %s", "memory");
        return;
    }
    in->impl = k->impl[MINE];
    const verdict v = verify_result(in, &want);
    answer_free(&want);
    if (v.outcome == OUTCOME_FAIL) k->v = v;
}

static void lose(seat *a) {
    field *d = a->of;
    if (d->k->v.outcome == OUTCOME_FAIL) return;
    d->k->v = failure("%s", a->calls.why);
    if (!a->mine) snprintf(d->broken, sizeof d->broken, "%s", a->calls.why);
}

static void before(void *context) {
    seat *a = context;
    field *d = a->of;
    const cache_state cache = d->k->c->cache;
    compare(d);
    draw_inputs(d);
    instance_refill(d->f.in);
    for (nl_arg s = 0; s < NL_ARGS && cache == CACHE_COLD; s++)
        if (d->f.in->at[s]) flush(d->f.in->at[s], d->drawn.bytes[s]);
    if (!over() && !caller_ready(&a->calls, TURN_CALLS | (cache == CACHE_WARM ? TURN_WARM : 0)))
        lose(a);
}

static void call(void *context, size_t turn) {
    seat *a = context;
    const double begin = clock_ns();
    double ns;
    (void)turn;
    if (over())
        nanosleep(&(struct timespec){.tv_nsec = 100000},
                  NULL); /* lets time pass, which ends the measurement */
    else if (!caller_call(&a->calls, &ns))
        lose(a);
    else
        a->of->pending = a->mine, skipped += clock_ns() - begin - fmax(ns - overhead, 1);
}

/* Times copies in this process, in processor time like the calls. */
static void call_limit(void *context, size_t turn) {
    const measure_candidate *m = context;
    struct timespec from, to;
    const double begin = clock_ns();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    m->call(m->context, turn);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    skipped += clock_ns() - begin - 1e9 * (double)(to.tv_sec - from.tv_sec) -
               (double)(to.tv_nsec - from.tv_nsec);
}

static void before_limit(void *context) {
    const measure_candidate *m = context;
    m->before(m->context);
}

static void after(void *context) {
    compare(((seat *)context)->of);
}

/* Measures the least cost of the messages between processes; subtracting more could make a call
 * look faster than copying. */
static bool measure_overhead(seat *a) {
    enum { TIMES = 51 };
    double ns;
    overhead = INFINITY;
    for (int i = 0; i < TIMES; i++, overhead = fmin(overhead, ns))
        if (!caller_ready(&a->calls, 0) || !caller_call(&a->calls, &ns)) return lose(a), false;
    return true;
}

static bool make_data(field *d, char *error, size_t size) {
    contest *k = d->k;
    random_seed(k->seed + ((uint64_t)1 << 40));
    bool ok = data_make(k->c, &d->other, error, size);
    random_seed(k->seed);
    for (nl_arg s = 0; s < NL_ARGS && ok; s++) {
        d->drawn.bytes[s] = d->f.data.bytes[s];
        if (!d->f.data.input[s]) continue;
        ok = (d->drawn.input[s] = malloc(d->drawn.bytes[s] + 1)) != NULL;
        if (ok) memcpy(d->drawn.input[s], d->f.data.input[s], d->drawn.bytes[s]);
    }
    ok = ok && data_widen(&k->c->problem, &d->drawn);
    if (getentropy(&d->random, sizeof d->random) != 0) d->random = (uint64_t)clock_ns();
    d->random |= 1;
    d->f.in->data = &d->drawn;
    return ok;
}

static bool seat_all(field *d) {
    const contest *k = d->k;
    for (int i = 0; i < CONTENDERS; i++) {
        const nl_impl *m = k->impl[i];
        if (!m) continue;
        d->f.in->impl = m;
        d->seats[i] = (seat){.of = d, .mine = i == MINE};
        if (!caller_start(&d->seats[i].calls, d->f.in,
                          nl_plan_of(m, &k->c->problem, k->threads).threads, k->threads > 1))
            return false;
    }
    return measure_overhead(&d->seats[FROM]);
}

static bool time_all(field *d) {
    contest *k = d->k;
    enum { AGAIN = CONTENDERS, LIMIT };
    const size_t last = k->impl[TO] ? AGAIN : TO;
    measure_candidate candidates[LIMIT + 2], limits[2];
    for (size_t i = 0; i <= last; i++)
        candidates[i] =
            (measure_candidate){call, &d->seats[i == last ? FROM : i], before, after, NULL};
    const yardstick by = {.baseline = k->impl[FROM]->name,
                          .again = last,
                          .limit = last + 1,
                          .limits = limit_candidates_make(&d->f, k->threads, d->limits),
                          .streaming = k->c->streaming,
                          .bytes = (double)case_bytes(k->c),
                          .margin = 0.02};
    for (size_t i = 0; i < by.limits; i++) {
        limits[i] = candidates[by.limit + i] = limit_candidate_measured(&d->limits[i]);
        void (*const first)(void *) = limits[i].before ? before_limit : NULL;
        if (k->threads == 1)
            candidates[by.limit + i] =
                (measure_candidate){call_limit, &limits[i], first, NULL, NULL};
    }
    measure m = {.candidates = candidates,
                 .count = by.limit + by.limits,
                 .baseline = FROM,
                 .seconds = k->seconds * (double)(by.limit + by.limits),
                 .precision = 0.01,
                 .seed = draw(d),
                 .clock = clock_of_calls,
                 .interrupted = over};
    const bool ok = measure_run(&m);
    for (size_t i = 0; ok && m.rounds && !over() && i < last; i++)
        k->t[i] = timing_read(&m, i, &by);
    measure_free(&m);
    return ok;
}

bool contest_run(contest *k, char *error, size_t size) {
    field d = {.k = k};
    size_t scratch = 0;
    k->v = (verdict){.outcome = OUTCOME_OK};
    for (int i = 0; i < CONTENDERS; i++) {
        const size_t bytes = k->impl[i] ? nl_scratch_bytes(k->impl[i], &k->c->problem) : 0;
        if (bytes > scratch) scratch = bytes;
    }
    if (scratch > MEMORY_MOST) {
        k->v = failure("%s", "its .scratch is more than 1 GiB, or does not return");
        return true;
    }
    running = k;
    isolate_end();
    nl_data sizes;
    if (!data_make(k->c, &sizes, error, size)) return false;
    arena *shared = isolate_arena(instance_room(k->c, &sizes, scratch));
    data_free(&sizes);
    snprintf(error, size, "out of memory");
    bool ok = shared && fixture_make(shared, &d.f, k->c, scratch, 1, error, size);
    ok = ok && make_data(&d, error, size);
    ok = ok && (seat_all(&d) ? time_all(&d) : k->v.outcome == OUTCOME_FAIL);
    for (int i = 0; i < CONTENDERS; i++) caller_stop(&d.seats[i].calls);
    data_free(&d.other), data_free(&d.drawn);
    fixture_free(&d.f);
    isolate_end();
    if (*d.broken) snprintf(error, size, "a rung to compare with %s", d.broken);
    return ok && !*d.broken;
}
