/* Runs a fake kernel in bench and races. On every call it compares its inputs with the case's
 * inputs; on some calls it is wrong. SPDX-License-Identifier: MIT */
#include "registry.h"
#include "support.h"
#include "timing/bench.h"
#include "timing/race.h"

#include <fenv.h>
#include <stdio.h>

static nl_case c;
static nl_data stated;
static answer want;
static const nl_impl *real;
static size_t calls, changed, wrong_from, wrong_to;
static nl_arg what;

/* Counts calls that changed an input, except calls on parts of the batch. */
static void compare(const nl_problem *p, nl_arg s, const void *got) {
    if (!got || p->n != c.problem.n || memcmp(got, stated.input[s], stated.bytes[s]) == 0) return;
    changed++;
    what = s;
}

/* NUMBER: the first number of y or dx is wrong. UNWRITTEN: statistics or gradients are not written.
 * INPUTS: inputs are overwritten, but the outputs are right. ROUNDING: leaves another mode. */
static enum fault { NUMBER, UNWRITTEN, INPUTS, ROUNDING } fault;

static bool is_wrong(enum fault f) {
    return f == fault && calls >= wrong_from && calls < wrong_to;
}

static void spoil(const void *out) {
    memset((void *)(uintptr_t)out, 0x3c, nl_dtype_bytes(c.problem.dtype));
}

static void fake_forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    nl_forward_args b = *a;
    compare(p, NL_X, a->x), compare(p, NL_RESIDUAL, a->residual);
    compare(p, NL_RUNNING_MEAN, a->running_mean), compare(p, NL_RUNNING_VAR, a->running_var);
    calls++;
    if (is_wrong(UNWRITTEN)) b.mean = b.rstd = NULL;
    if (is_wrong(INPUTS)) b.x = stated.input[NL_X], b.gamma = stated.input[NL_GAMMA];
    real->forward(p, &b, threads);
    if (is_wrong(NUMBER)) spoil(a->y);
    if (is_wrong(ROUNDING)) fesetround(FE_UPWARD);
    if (is_wrong(INPUTS)) spoil(a->x), spoil(a->gamma);
}

static void fake_backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    nl_backward_args b = *a;
    compare(p, NL_X, a->x), compare(p, NL_DY, a->dy), compare(p, NL_RESIDUAL, a->dresidual);
    compare(p, NL_MEAN, a->mean), compare(p, NL_RSTD, a->rstd);
    calls++;
    if (is_wrong(UNWRITTEN)) b.dgamma = b.dbeta = NULL;
    if (is_wrong(INPUTS)) b.dy = stated.input[NL_DY], b.rstd = stated.input[NL_RSTD];
    real->backward(p, &b, threads);
    if (is_wrong(NUMBER)) spoil(a->dx);
    if (is_wrong(INPUTS)) spoil(a->dy), spoil(a->rstd);
}

static nl_impl fake;
static bool beside; /* also time the real implementation */

static bool selects(void *context, const nl_impl *impl, const nl_case *taken) {
    (void)context, (void)taken;
    return impl == &fake || (beside && impl == real);
}

static size_t timed;
static verdict last, of_real;
static double seconds = 1e-3; /* of timing */

static void take_row(void *context, const row *line) {
    (void)context;
    timed += line->timed;
    *(strcmp(line->impl, fake.name) == 0 ? &last : &of_real) = line->v;
}

/* Benches the fake kernel, which computes like `impl`, but is wrong on calls `from` to `to` - 1. */
static void bench(const char *text, const char *impl, size_t from, size_t to) {
    const bench_settings o = {.seconds = seconds,
                              .precision = 1e-9,
                              .margin = 0.02,
                              .threads = 1,
                              .selects = selects,
                              .row = take_row};
    char error[700] = "no memory";
    one_thread();
    if (!case_parse(text, &c, error, sizeof error) ||
        !data_make(&c, &stated, error, sizeof error) || !answer_make(&c, &stated, &want) ||
        !(real = nl_find(impl, "c")))
        cr_assert_fail("%s: %s", text, error);
    if (!fake.name) nl_registry_add(&fake);
    fake = *real;
    fake.name = "fake/kernel", fake.forward = fake_forward, fake.backward = fake_backward;
    calls = changed = timed = 0, wrong_from = from, wrong_to = to;
    cr_assert(bench_case(&c, &o, error, sizeof error), "%s: %s", text, error);
    answer_free(&want), data_free(&stated);
}

/* Benches the fake kernel without faults, ever longer, until it is called over `enough` times. */
static void bench_calls(const char *text, const char *impl, size_t enough) {
    seconds = 1e-3;
    while (bench(text, impl, 0, 0), calls <= enough && seconds < 10) seconds *= 4;
}

Test(timed, every_call_sees_the_stated_inputs) {
    static const char *const cases[][2] =
        {{"layernorm/forward/f32/8x64/normal", "layernorm/two_pass"},
         {"layernorm/forward/f32/8x64/normal/in-place", "layernorm/two_pass"},
         {"layernorm/forward/f32/8x64/normal/residual/in-place", "layernorm/two_pass"},
         {"layernorm/forward/bf16/7x33/normal/in-place/cold", "layernorm/two_pass"},
         {"rmsnorm/forward/f16/8x64/normal/residual/in-place", "rmsnorm/one_pass"},
         {"rmsnorm/forward/f32/8x64/normal/residual/in-place/rotating", "rmsnorm/one_pass"},
         {"rmsnorm/forward/f32/8x64/normal/in-place/skew=64", "rmsnorm/one_pass"},
         {"rmsnorm/backward/f32/8x64/normal/residual/in-place", "rmsnorm/backward"},
         {"rmsnorm/forward/f32/8x64/normal/residual/in-place=residual", "rmsnorm/one_pass"},
         {"rmsnorm/backward/f32/8x64/normal/residual/in-place=dresidual", "rmsnorm/backward"},
         {"layernorm/backward/f16/8x64/normal/in-place", "layernorm/backward"},
         {"batchnorm/backward/f32/8x16/normal/in-place", "batchnorm/backward"},
         {"batchnorm/forward/f32/8x16/normal", "batchnorm/two_pass"},
         {"batchnorm/forward/f32/4x5x9/normal/in-place/rotating", "batchnorm/two_pass"},
         {"batchnorm/inference/f32/8x16/normal/in-place", "batchnorm/inference"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_calls(cases[i][0], cases[i][1], 50);
        cr_expect(timed == 1 && calls > 50 && changed == 0,
                  "%s: %s differed on %zu of %zu calls; %s %s", cases[i][0], nl_args[what].name,
                  changed, calls, outcome_name(last.outcome), last.why);
    }
}

#define LOST "nan, should be"
#define WRITES(what) "the input " what " was modified"

/* The fake kernel is right when it is verified before and after timing, but wrong while it is
 * timed. If a call writes no outputs, bench must not take those of an earlier call for this call's.
 * A call that modifies its inputs fails even if its outputs are right, but another kernel with the
 * same inputs does not fail. */
Test(timed, timed_calls_are_verified) {
    static const struct {
        enum fault fault;
        const char *text, *impl, *says;
    } cases[] =
        {{NUMBER, "layernorm/forward/f32/8x64/normal", "layernorm/two_pass", "[0]"},
         {NUMBER, "rmsnorm/forward/f16/8x64/normal/residual/in-place", "rmsnorm/one_pass", "[0]"},
         {NUMBER, "layernorm/forward/f32/8x64/normal/rotating", "layernorm/two_pass", "[0]"},
         {NUMBER, "batchnorm/forward/f32/8x16/normal", "batchnorm/two_pass", "[0]"},
         {NUMBER, "rmsnorm/backward/f32/8x64/normal", "rmsnorm/backward", "[0]"},
         {UNWRITTEN, "layernorm/forward/f32/8x64/normal", "layernorm/two_pass", LOST},
         {UNWRITTEN, "rmsnorm/forward/f16/8x64/normal/residual/in-place", "rmsnorm/one_pass", LOST},
         {UNWRITTEN, "layernorm/forward/f32/8x64/normal/rotating", "layernorm/two_pass", LOST},
         {UNWRITTEN, "layernorm/forward/f32/8x64/normal/cold", "layernorm/two_pass", LOST},
         {UNWRITTEN, "batchnorm/forward/f32/8x16/normal", "batchnorm/two_pass", LOST},
         {UNWRITTEN, "layernorm/backward/f32/8x64/normal", "layernorm/backward", LOST},
         {ROUNDING, "layernorm/forward/f32/8x64/zeros/no-affine/no-rstd", "layernorm/two_pass",
          "the rounding mode"},
         {INPUTS, "layernorm/forward/f32/8x64/normal", "layernorm/two_pass", WRITES("x")},
         {INPUTS, "layernorm/forward/f32/8x64/normal/rotating", "layernorm/two_pass", WRITES("x")},
         {INPUTS, "rmsnorm/forward/f16/8x64/normal/in-place", "rmsnorm/one_pass", WRITES("gamma")},
         {INPUTS, "layernorm/backward/f32/8x64/normal", "layernorm/backward", WRITES("dy")}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault = cases[i].fault, beside = fault == INPUTS;
        bench_calls(cases[i].text, cases[i].impl, 200);
        const size_t all = calls;
        cr_assert(timed == 1u + beside && all > 200, "%s: %zu calls, %s%s", cases[i].text, all,
                  last.why, of_real.why);
        bench(cases[i].text, cases[i].impl, 11, all / 2);
        cr_expect(timed == beside && last.outcome == OUTCOME_FAIL &&
                      strstr(last.why, cases[i].says) &&
                      (!beside || of_real.outcome == OUTCOME_OK) && fegetround() == FE_TONEAREST,
                  "%s: fault %d on calls 11 to %zu: %s; the real kernel: %s", cases[i].text,
                  (int)fault, all / 2, last.why, of_real.why);
    }
}

Test(timed, races_too) {
    static const char text[] = "rmsnorm/forward/f32/8x64/normal/residual/in-place";
    static race by = {.seed = 1};
    race_result r;
    bench_calls(text, "rmsnorm/one_pass", 200);
    candidate a = {.threads = 1,
                   .impl = {&fake},
                   .on = {fixtures_get(&by.all, text, by.why, sizeof by.why)}};
    candidate b = a;
    cr_assert(a.on[0] && data_make(&c, &stated, by.why, sizeof by.why), "%s", by.why);
    calls = changed = 0;
    cr_expect(race_pair(&by, &a, &b, &r), "%s", by.why);
    cr_expect(calls > 20 && changed == 0, "%zu of %zu calls", changed, calls);
    calls = 0, wrong_from = 11, wrong_to = SIZE_MAX;
    cr_expect(!race_pair(&by, &a, &b, &r) && strstr(by.why, "[0]"), "%s", by.why);
    data_free(&stated), fixtures_free(&by.all);
}
