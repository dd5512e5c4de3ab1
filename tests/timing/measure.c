/* Tests the measuring engine with a clock that moves only during calls of candidates.
 * SPDX-License-Identifier: MIT */
#include "timing/bench.h"
#include "base/random.h"

#include <criterion/criterion.h>
#include <math.h>

static double now;

static double fake_clock(void) {
    return now;
}

/* A candidate that takes a given time with noise; from call slower_from on it takes longer. */
typedef struct fake {
    double ns, noise, slower;
    size_t slower_from, calls;
    uint64_t stream;
} fake;

static void fake_call(void *context, size_t turn) {
    fake *f = context;
    (void)turn;
    double ns = f->ns * (f->slower && f->calls >= f->slower_from ? f->slower : 1);
    now += ns * (1 + f->noise * fabs(random_normal(f->stream, f->calls++)));
}

static void lose_time(void *context) {
    (void)context;
    now += 1e9;
}

static void (*before)(void *);

/* Candidate 0 is the baseline, candidate 1 repeats the baseline. */
static measure_candidate *prepare(measure *m, fake *fakes, size_t count, double seconds) {
    static measure_candidate candidates[30];
    for (size_t i = 0; i < count; i++)
        candidates[i] =
            (measure_candidate){.call = fake_call, .context = &fakes[i], .before = before};
    m->candidates = candidates, m->count = count, m->clock = fake_clock, m->seconds = seconds;
    if (m->precision == 0) m->precision = 0.01;
    return candidates;
}

static bool run(measure *m, fake *fakes, size_t count, double seconds) {
    prepare(m, fakes, count, seconds);
    return measure_run(m);
}

static comparison verdict_of(const measure *m, size_t candidate) {
    return stats_verdict(measure_ratio(m, candidate, 0), stats_band(measure_ratio(m, 1, 0)), 0.02);
}

/* Other work disturbs most rounds, and slows two candidates differently. Quiet rounds give the
 * ratio; the median over all rounds is wrong by the difference of the disturbances. */
Test(measure, quiet_rounds) {
    enum { ROUNDS = 200 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        double ns[2 * ROUNDS];
        for (size_t r = 0; r < ROUNDS; r++) {
            uint32_t words[4];
            random_words(seed, r, words);
            const bool busy = words[0] % 100 < 70;
            const double clock = 1 + 0.001 * fabs(random_normal(seed, 2 * r));
            ns[2 * r] = 1000 * clock * (busy ? 1.2 + words[1] % 100 / 100.0 : 1);
            ns[2 * r + 1] = 1030 * clock * (busy ? 1.1 + words[2] % 100 / 100.0 : 1);
        }
        measure m = {.ns = ns, .count = 2, .rounds = ROUNDS};
        const quiet_rounds quiet = measure_quiet(&m, 1, 0);
        cr_expect(fabs(exp(quiet.log_ratio) - 1.03) < 1e-9, "seed %d: %g", (int)seed,
                  exp(quiet.log_ratio));
        cr_expect(fabs(exp(quiet.log_time) - 1000) < 3);
        m.rounds = 2;
        cr_expect(isfinite(measure_quiet(&m, 1, 0).log_ratio));
        m.rounds = 0;
        cr_expect(isnan(measure_quiet(&m, 1, 0).log_ratio));
    }
}

Test(measure, stops_when_precise) {
    fake f[3] = {{1000, 0.001, 0, 0, 0, 1}, {1000, 0.001, 0, 0, 0, 2}, {1300, 0.001, 0, 0, 0, 3}};
    measure m = {.seed = 1};
    cr_assert(run(&m, f, 3, 10));
    cr_expect(m.stopped == STOPPED_PRECISE, "stopped by %s", stopped_name(m.stopped));
    cr_expect(m.rounds >= measure_min_rounds(3) && m.rounds < 30, "%zu rounds", m.rounds);
    cr_expect(verdict_of(&m, 2) == SLOWER && verdict_of(&m, 1) == SAME);
    cr_expect(fabs(measure_time(&m, 2).median - 1300) < 13);
    cr_expect(fabs(exp(measure_ratio(&m, 2, 0).median) - 1.3) < 0.01);
    measure_free(&m);
}

/* The limit is the faster of two limits; the option `streaming` shows the streaming limit. A rung
 * with ordinary stores may beat the streaming limit: only beating both is impossible. */
Test(measure, impossible_is_what_beats_every_limit) {
    enum { BASELINE, AGAIN, SLOW, FAST, TOO_FAST, ORDINARY, STREAMING, CANDIDATES };
    static const double ns[][2] = {{450, 800}, {800, 450}};
    for (size_t k = 0; k < 4; k++) {
        const double *limit = ns[k / 2],
                     of[CANDIDATES] = {1000, 1000, 900, 500, 300, limit[0], limit[1]};
        fake f[CANDIDATES];
        for (size_t i = 0; i < CANDIDATES; i++) f[i] = (fake){of[i], 0.001, 0, 0, 0, i};
        measure m = {.seed = 1};
        const yardstick by = {.again = AGAIN,
                              .limit = ORDINARY,
                              .limits = 2,
                              .streaming = k % 2,
                              .margin = 0.02};
        cr_assert(run(&m, f, CANDIDATES, 10));
        for (size_t i = SLOW; i <= TOO_FAST; i++) {
            const timing t = timing_read(&m, i, &by);
            const double shown = by.streaming ? limit[1] : 450;
            cr_expect(fabs(t.limit_pct - 100 * shown / of[i]) < 2, "%g %%", t.limit_pct);
            cr_expect(t.impossible == (i == TOO_FAST), "%g ns", of[i]);
        }
        measure_free(&m);
    }
}

Test(measure, stops_when_the_time_is_up) {
    fake f[3] = {{1000, 2, 0, 0, 0, 1}, {1000, 2, 0, 0, 0, 2}, {1010, 2, 0, 0, 0, 3}};
    measure m = {.seed = 1, .precision = 1e-6};
    double before = now;
    cr_assert(run(&m, f, 3, 0.1));
    cr_expect(m.stopped == STOPPED_TIME, "stopped by %s", stopped_name(m.stopped));
    cr_expect(now - before > 0.1e9 && now - before < 0.2e9, "took %g s", (now - before) / 1e9);
    cr_expect(verdict_of(&m, 2) == NOT_RESOLVED || verdict_of(&m, 2) == SAME);
    measure_free(&m);
}

/* All candidates get as many calls as the fastest needs, and at least the minimum of rounds. */
Test(measure, one_number_of_calls) {
    fake f[3] = {{50, 0, 0, 0, 0, 1}, {50, 0, 0, 0, 0, 2}, {5000, 0, 0, 0, 0, 3}};
    measure m = {.seed = 1};
    cr_assert(run(&m, f, 3, 10));
    cr_expect(m.calls == 2000, "%zu calls for a round of 100 us", m.calls);
    measure_free(&m);
    fake slow[2] = {{1e9, 0, 0, 0, 0, 1}, {1e9, 0, 0, 0, 0, 2}};
    measure s = {.seed = 1};
    cr_assert(run(&s, slow, 2, 0.001));
    cr_expect(s.calls == 1 && s.rounds >= measure_min_rounds(2));
    measure_free(&s);
}

/* If a Latin square takes longer than allowed, measuring stops after the minimum of rounds. */
Test(measure, a_part_of_a_square) {
    enum { CANDIDATES = 30 };
    fake f[CANDIDATES];
    for (size_t i = 0; i < CANDIDATES; i++) f[i] = (fake){1e9, 0.5, 0, 0, 0, i};
    measure m = {.seed = 1, .precision = 1e-9};
    cr_assert(run(&m, f, CANDIDATES, 0.001) && measure_min_rounds(CANDIDATES) < CANDIDATES);
    cr_expect(m.rounds == measure_min_rounds(CANDIDATES), "%zu rounds", m.rounds);
    cr_expect(m.stopped == STOPPED_TIME && isfinite(measure_time(&m, 3).high));
    measure_free(&m);
}

/* In every complete block each candidate is once in each position, and the blocks differ. */
Test(measure, latin_squares) {
    enum { CANDIDATES = 5 };
    fake f[CANDIDATES];
    for (size_t i = 0; i < CANDIDATES; i++) f[i] = (fake){1000, 0.5, 0, 0, 0, i};
    measure m = {.seed = 9, .precision = 1e-9};
    cr_assert(run(&m, f, CANDIDATES, 0.2));
    cr_assert(m.rounds >= 4 * CANDIDATES && m.rounds % CANDIDATES == 0);
    size_t same_as_first = 0;
    for (size_t b = 0; b < m.rounds; b += CANDIDATES) {
        size_t seen[CANDIDATES][CANDIDATES] = {{0}}, same = 0;
        for (size_t r = b; r < b + CANDIDATES; r++)
            for (size_t a = 0; a < CANDIDATES; a++) {
                seen[a][m.position[r * CANDIDATES + a]]++;
                same += m.position[r * CANDIDATES + a] == m.position[(r - b) * CANDIDATES + a];
            }
        for (size_t a = 0; a < CANDIDATES; a++)
            for (size_t p = 0; p < CANDIDATES; p++)
                cr_assert(seen[a][p] == 1, "block %zu: candidate %zu is %zu times in position %zu",
                          b / CANDIDATES, a, seen[a][p], p);
        same_as_first += b > 0 && same == CANDIDATES * CANDIDATES;
    }
    cr_expect(same_as_first < m.rounds / CANDIDATES / 4, "%zu blocks repeat the first",
              same_as_first);
    measure_free(&m);
}

static bool stop;

static bool stopped_now(void) {
    return stop;
}

static void interrupting_call(void *context, size_t turn) {
    fake_call(context, turn);
    fake *f = context;
    if (f->calls > 5000) stop = true;
}

Test(measure, interrupted_keeps_whole_rounds) {
    fake f[2] = {{1000, 0.5, 0, 0, 0, 1}, {1000, 0.5, 0, 0, 0, 2}};
    measure m = {.precision = 1e-9, .seed = 1, .interrupted = stopped_now};
    prepare(&m, f, 2, 100)[1].call = interrupting_call;
    cr_assert(measure_run(&m));
    cr_expect(m.stopped == STOPPED_INTERRUPTED && m.rounds > 0 && m.rounds < 200);
    for (size_t i = 0; i < 2 * m.rounds; i++) cr_expect(m.ns[i] > 900, "round %zu is whole", i / 2);
    measure_free(&m);
}

Test(measure, what_comes_before_is_not_timed) {
    fake f[2] = {{1e6, 0, 0, 0, 0, 1}, {1e6, 0, 0, 0, 0, 2}};
    measure m = {.seed = 1};
    before = lose_time;
    cr_assert(run(&m, f, 2, 0.1));
    cr_expect(fabs(measure_time(&m, 0).median - 1e6) < 1);
    measure_free(&m);
}

/* A clock that takes time to read. */
static double slow_clock(void) {
    return now += 40;
}

static size_t restored, compared;
static bool used;

static void restore(void *context) {
    (void)context;
    restored += used, used = false, now += 5000;
}

static void compare(void *context) {
    (void)context;
    compared++, now += 7000;
}

static void consume(void *context, size_t turn) {
    cr_assert(!used, "call %zu sees what the previous call left", turn);
    used = true;
    fake_call(context, turn);
}

/* One candidate consumes its inputs, the other does not. Both take 100 ns; the clock is slow. */
Test(measure, inputs_are_restored_before_every_call) {
    fake f[2] = {{100, 0, 0, 0, 0, 1}, {100, 0, 0, 0, 0, 2}};
    measure m = {.precision = 1e-9, .seed = 1};
    measure_candidate *first = prepare(&m, f, 2, 0.01);
    first->call = consume, first->before = restore, first->after = compare;
    m.clock = slow_clock;
    cr_assert(measure_run(&m));
    cr_expect(restored + 1 >= f[0].calls && f[0].calls > 100, "restored %zu times for %zu calls",
              restored, f[0].calls);
    cr_expect(compared == 8 + m.rounds,
              "compared %zu times in trials of 1 to 128 calls and %zu rounds", compared, m.rounds);
    for (size_t candidate = 0; candidate < 2; candidate++) {
        double ns = measure_time(&m, candidate).median;
        cr_expect(fabs(ns - 100) < 1, "candidate %zu takes %g ns", candidate, ns);
    }
    measure_free(&m);
}

typedef struct faulty {
    fake f;
    size_t period, seen;
} faulty;

static void verify_outputs(void *context) {
    faulty *k = context;
    k->seen += k->f.calls % k->period == 0;
}

/* A kernel that is wrong on every N-th call (N up to 8) is found, whatever the calls per round. */
Test(measure, any_call_may_be_the_one_that_is_verified) {
    static const size_t calls[] = {1, 2, 5, 6, 13, 27, 48, 55, 111, 503};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (size_t period = 2; period <= 8; period++)
            for (size_t phase = 0; phase < period; phase++) {
                fake each = {.ns = 100e3 / (double)calls[i]}, both[] = {each, each};
                faulty k = {each, period, 0};
                k.f.calls = phase;
                measure m = {.precision = -1, .seed = 1};
                measure_candidate *first = prepare(&m, both, 2, 0.04);
                first->context = &k, first->after = verify_outputs;
                cr_assert(measure_run(&m));
                cr_expect(m.rounds > 50 && k.seen > 0,
                          "wrong on call %zu of %zu, %zu calls a round: not seen in %zu rounds",
                          period - phase, period, m.calls, m.rounds);
                measure_free(&m);
            }
}

/* A kernel as fast as the baseline that becomes 30 % slower is never FASTER, for any seed. */
Test(measure, never_faster_by_accident) {
    for (size_t trial = 0; trial < 200; trial++) {
        fake f[3] = {{1000, 0.05, 0, 0, 0, 3 * trial},
                     {1000, 0.05, 0, 0, 0, 3 * trial + 1},
                     {1000, 0.05, 1.3, 200 + 40 * trial, 0, 3 * trial + 2}};
        measure m = {.seed = trial, .precision = 0.002};
        cr_assert(run(&m, f, 3, 0.02));
        cr_expect(verdict_of(&m, 2) != FASTER, "trial %zu", trial);
        measure_free(&m);
    }
}

Test(measure, a_against_a_is_never_a_difference) {
    size_t wrong = 0;
    for (size_t trial = 0; trial < 400; trial++) {
        fake f[3];
        for (size_t i = 0; i < 3; i++) f[i] = (fake){1000, 0.3, 0, 0, 0, 1000 + 3 * trial + i};
        measure m = {.seed = trial, .precision = 0.002};
        cr_assert(run(&m, f, 3, 0.01));
        wrong += verdict_of(&m, 2) == FASTER || verdict_of(&m, 2) == SLOWER;
        measure_free(&m);
    }
    /* at most 2 %: the nominal share is 1.7 %, and the band lowers it */
    cr_expect(wrong <= 8, "%zu of 400 equal candidates differ", wrong);
}
