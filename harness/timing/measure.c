/* This file does not depend on kernels, and the clock is a parameter, so that tests can control it.
 * SPDX-License-Identifier: MIT */
#include "timing/measure.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

/* In a shorter round, the cost of reading the clock would matter. */
static const double shortest_round_ns = 100e3;

const char *stopped_name(stopped s) {
    static const char *const names[] = {"precise", "time", "interrupted"};
    return names[s];
}

size_t measure_min_rounds(size_t count) {
    size_t n = 5;
    while (stats_rank(n, stats_confidence(count)) < 2) n++;
    return n;
}

static bool is_interrupted(const measure *m) {
    return m->interrupted && m->interrupted();
}

/* Nanoseconds between two readings of the clock with nothing between them. */
static double time_reading(const measure *m) {
    double least = INFINITY;
    for (int i = 0; i < 100; i++) {
        double start = m->clock();
        least = fmin(least, m->clock() - start);
    }
    return least;
}

/* One untimed call wakes threads that slept during the other candidates' turns and warms the
 * buffers. Up to six more follow, at most about an eighth of the timed calls. Their number is
 * random, so that the last call, which is verified, varies. */
static size_t untimed_calls(size_t calls, size_t random) {
    return 1 + random % ((calls < 48 ? calls : 48) + 8) / 8;
}

/* Nanoseconds of `calls` calls of one candidate, after untimed calls. */
static double time_calls(const measure *m, size_t candidate, size_t untimed, size_t calls,
                         size_t *turn) {
    const measure_candidate *a = &m->candidates[candidate];
    double total = 0, start;
    if (a->begin) a->begin(a->context, untimed + calls);
    for (; untimed > 0; untimed--) {
        if (a->before) a->before(a->context);
        a->call(a->context, (*turn)++);
    }
    if (!a->before) {
        start = m->clock();
        for (size_t i = 0; i < calls; i++) a->call(a->context, (*turn)++);
        total = m->clock() - start;
    }
    for (size_t i = 0; a->before && i < calls; i++) {
        a->before(a->context);
        start = m->clock();
        a->call(a->context, (*turn)++);
        total += fmax(m->clock() - start - m->reading, 1);
    }
    if (a->after) a->after(a->context);
    return total;
}

/* A short trial of a candidate: nanoseconds of a call; *whole includes the untimed parts. */
static double try_candidate(const measure *m, size_t candidate, size_t *turn, double *whole) {
    for (size_t calls = 1;; calls *= 2) {
        double start = m->clock(), ns = time_calls(m, candidate, 1, calls, turn);
        *whole = (m->clock() - start) / (double)(calls + 1);
        if (ns >= shortest_round_ns / 8) return ns / (double)calls;
    }
}

double measure_trial(const measure_candidate *candidate, double (*clock)(void)) {
    measure m = {.candidates = candidate, .count = 1, .clock = clock};
    size_t turn = 0;
    double whole;
    m.reading = time_reading(&m);
    return try_candidate(&m, 0, &turn, &whole);
}

/* The number of calls per round, equal for all candidates: enough that the fastest candidate's
 * round is not too short, and few enough that the minimum number of rounds fits into the time. */
static size_t shared_calls(const measure *m, size_t *turn) {
    double fastest = INFINITY, all = 0, whole;
    for (size_t a = 0; a < m->count; a++) {
        fastest = fmin(fastest, try_candidate(m, a, turn, &whole));
        all += whole;
    }
    double want = ceil(shortest_round_ns / fastest);
    double fit = floor(m->seconds * 1e9 / all / (double)measure_min_rounds(m->count)) - 1;
    double calls = fmin(want, fmax(fit, 1));
    return calls > 1 ? (size_t)calls : 1;
}

/* Draws the candidates' order for a block of rounds: a cyclic Latin square, candidates and rounds
 * shuffled. Also draws a random number for each round. */
static void draw_square(const measure *m, size_t block, size_t *candidates, size_t *rounds,
                        size_t *random) {
    for (size_t i = 0; i < m->count; i++) candidates[i] = rounds[i] = i;
    for (size_t i = m->count; i > 0; i--) {
        uint32_t w[4];
        random_words(m->seed, block * m->count + i, w);
        size_t j = w[0] % i, k = w[1] % i, t = candidates[i - 1];
        candidates[i - 1] = candidates[j], candidates[j] = t;
        t = rounds[i - 1], rounds[i - 1] = rounds[k], rounds[k] = t;
        random[i - 1] = w[2];
    }
}

/* Appends a block of rounds, or fewer rounds if interrupted, or if the first block would take too
 * long. False: out of memory. */
static bool run_block(measure *m, size_t block, double until, size_t *order, size_t *turn) {
    const size_t enough = block == 0 ? measure_min_rounds(m->count) : SIZE_MAX;
    size_t n = m->count, room = (m->rounds + n) * n;
    double *ns = realloc(m->ns, room * sizeof *ns);
    if (ns) m->ns = ns;
    size_t *position = realloc(m->position, room * sizeof *position);
    if (position) m->position = position;
    if (!ns || !position) return false;
    draw_square(m, block, order, order + n, order + 2 * n);
    for (size_t r = 0; r < n && !is_interrupted(m); r++) {
        if (m->rounds >= enough && m->clock() >= until) break;
        size_t untimed = untimed_calls(m->calls, order[2 * n + r]);
        for (size_t i = 0; i < n; i++) {
            size_t candidate = order[(order[n + r] + i) % n], at = m->rounds * n + candidate;
            m->ns[at] = time_calls(m, candidate, untimed, m->calls, turn) / (double)m->calls;
            m->position[at] = i;
        }
        m->rounds++;
    }
    return true;
}

static bool precise(const measure *m) {
    for (size_t a = 0; a < m->count; a++) {
        estimate e = measure_ratio(m, a, m->baseline);
        if (!((e.high - e.low) / 2 <= m->precision)) return false;
    }
    return true;
}

bool measure_run(measure *m) {
    size_t turn = 0, fewest = measure_min_rounds(m->count);
    size_t *order = malloc(3 * m->count * sizeof *order);
    m->ns = NULL, m->position = NULL, m->rounds = 0;
    if (!order) return false;
    m->reading = time_reading(m);
    m->calls = shared_calls(m, &turn);
    const double until = m->clock() + m->seconds * 1e9;
    bool ok = true;
    for (size_t block = 0;; block++) {
        ok = run_block(m, block, until, order, &turn);
        m->stopped = STOPPED_INTERRUPTED;
        if (!ok || is_interrupted(m)) break;
        if (m->rounds < fewest) continue;
        m->stopped = STOPPED_PRECISE;
        if (precise(m)) break;
        m->stopped = STOPPED_TIME;
        if (m->clock() >= until) break;
    }
    free(order);
    return ok;
}

void measure_free(measure *m) {
    free(m->ns);
    free(m->position);
    m->ns = NULL, m->position = NULL;
}

/* The median over rounds of a's time or, if b is given, of log(a's time / b's time). */
static estimate over_rounds(const measure *m, size_t a, const size_t *b) {
    estimate e = {NAN, -INFINITY, INFINITY};
    double *v = malloc((m->rounds + 1) * sizeof *v);
    if (!v) return e;
    for (size_t r = 0; r < m->rounds; r++) {
        const double *round = m->ns + r * m->count;
        v[r] = b ? log(round[a] / round[*b]) : round[a];
    }
    e = stats_median(v, m->rounds, stats_confidence(m->count));
    free(v);
    return e;
}

estimate measure_time(const measure *m, size_t candidate) {
    return over_rounds(m, candidate, NULL);
}

estimate measure_ratio(const measure *m, size_t a, size_t b) {
    return over_rounds(m, a, &b);
}

typedef struct one_round {
    double both;
    size_t round;
} one_round;

static int by_both(const void *a, const void *b) {
    const double x = ((const one_round *)a)->both, y = ((const one_round *)b)->both;
    return (x > y) - (x < y);
}

quiet_rounds measure_quiet(const measure *m, size_t a, size_t b) {
    quiet_rounds mean = {NAN, NAN};
    one_round *v = malloc((m->rounds + 1) * sizeof *v);
    const size_t tenth = m->rounds / 10, few = tenth < 3 ? 3 : tenth,
                 count = few < m->rounds ? few : m->rounds;
    if (!v || !count) return free(v), mean;
    for (size_t r = 0; r < m->rounds; r++)
        v[r] = (one_round){log(m->ns[r * m->count + a]) + log(m->ns[r * m->count + b]), r};
    qsort(v, m->rounds, sizeof *v, by_both);
    mean = (quiet_rounds){0, 0};
    for (size_t i = 0; i < count; i++) {
        const double time = log(m->ns[v[i].round * m->count + b]);
        mean.log_time += time / (double)count;
        mean.log_ratio += (v[i].both - 2 * time) / (double)count;
    }
    free(v);
    return mean;
}
