/* Tests that the rivals of norms in races are right, and that roundings explain the error of
 * folding. SPDX-License-Identifier: MIT */
#include "claims/quantity.h"
#include "claims/pointwise.h"
#include "claims/rivals.h"
#include "support.h"

TestSuite(rivals, .init = one_thread);

/* Tests every binade down to 2^-40, and numbers beyond the ends of the fit. */
Test(rivals, functions_are_within_their_bounds) {
    enum { N = 4096 };
    static float x[N], y[N], one[N], none[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = ldexpf(1 + (float)(i % 89) / 89, (int)(i % 46) - 40) * (i % 2 ? -1 : 1);
        one[i] = 1;
    }
    for (int plain = 0; plain < 2; plain++)
        for (pointwise_kind f = POINTWISE_TANH; f <= POINTWISE_ERF; f++) {
            pointwise_find(plain)->layer(&(pointwise_job){x, one, none, y, 1, N}, f);
            for (size_t i = 0; i < N; i++) {
                const double v = (double)(POINTWISE_ALPHA * x[i]),
                             want = f == POINTWISE_TANH ? tanh(v) : erf(v);
                if (!(fabs((double)y[i] / want - 1) <= POINTWISE_UNITS * 0x1p-24))
                    cr_assert_fail("%d(%g) = %.9g, not %.9g", (int)f, v, (double)y[i], want);
            }
        }
}

Test(rivals, names) {
    static const char *const wrong[] = {"rmsnorm", "rmsnorm>", ">dyt", "rmsnorm>nothing",
                                        "rms>dyt"};
    race r = {.seconds = 1e-4};
    race_result out;
    const char *name, *words;
    for (size_t i = 0; rivals_name(i, &name, &words); i++) cr_assert(*name && *words);
    cr_assert_str_eq(rivals_words("rmsnorm>dyt"), "Dynamic Tanh against RMSNorm");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_null(rivals_words(wrong[i]), "%s", wrong[i]);
        cr_assert(!rivals_race(&r, wrong[i], "forward/f32/3x64/normal", &out));
    }
    cr_assert(!rivals_race(&r, "rmsnorm>dyt", "forward/bf16/3x64/normal", &out));
    cr_assert(strstr(r.why, "f32"), "%s", r.why);
    cr_assert(rivals_race(&r, "rmsnorm>weightless", "forward/bf16/3x64/normal", &out), "%s", r.why);
    cr_assert(rivals_race(&r, "rmsnorm_naive>dyt_plain", "forward/f32/3x61/normal", &out), "%s",
              r.why);
    cr_assert(isfinite(out.ratio.median) && out.rounds > 0);
    fixtures_free(&r.all);
}

/* Rivals that are not in the table of kernels have neither a backward pass nor options, so cases
 * with a backward pass or an option are refused. Some rivals also refuse types and sizes. */
Test(rivals, cases_that_are_not_theirs) {
    static const char *const wrong[][2] = {
        {"rmsnorm>dyt", "backward/f32/3x64/normal"},
        {"rmsnorm>weightless", "backward/f32/3x64/normal"},
        {"project>deferred", "backward/f32/3x64/normal"},
        {"rmsnorm>dyt", "forward/f32/3x64/normal/residual"},
        {"rmsnorm>weightless", "forward/f32/3x64/normal/no-affine"},
        {"step>step_again", "backward/f32/64x16/normal"},
        {"step>step_again", "forward/f32/65x16/normal"},
        {"step>step_again", "forward/f32/0x16/normal"},
        {"step>step_again", "forward/f32/64x15/normal"},
        {"step>step_again", "forward/bf16/64x16/normal"},
    };
    race r = {.seconds = 1e-4};
    race_result out;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect(!rivals_race(&r, wrong[i][0], wrong[i][1], &out), "row %zu", i);
    cr_expect(rivals_race(&r, "step>step_again", "forward/f32/128x16/normal", &out) ||
                  strstr(r.why, "not measured"),
              "%s", r.why);
    fixtures_free(&r.all);
}

static double of(const char *text, double (*f)(const fixture *)) {
    static fixtures all;
    char error[700];
    const fixture *at = fixtures_get(&all, text, error, sizeof error);
    if (!at) cr_assert_fail("%s", error);
    return f(at);
}

/* Two independent roundings have sqrt(2) times the error of one rounding. */
Test(rivals, errors_of_folding) {
    const double gain = of("rmsnorm/forward/f32/16x256/normal", folds_gain),
                 none = of("rmsnorm/forward/bf16/16x256/normal/no-affine", folds_gain),
                 near = of("layernorm/forward/f32/16x256/normal", folds_centring),
                 far = of("layernorm/forward/f32/16x256/offset:64", folds_centring),
                 y = of("layernorm/backward/bf16/16x256/normal", folds_from_y);
    cr_assert(fabs(gain - sqrt(2)) < 0.1, "%g", gain);
    cr_assert(none == 1, "%g", none);
    cr_assert(fabs(near - 1) < 0.05 && far < 0.1, "%g %g", near, far);
    cr_assert(y > 1 && y < 2, "%g", y);
    fixtures all = {0};
    const fixture *at =
        fixtures_get(&all, "layernorm/forward/f32/64x64/constant", (char[700]){0}, 700);
    cr_assert(at && folds_ones(at, false) > 99 && fabs(folds_ones(at, true)) < 60);
    fixtures_free(&all);
}
