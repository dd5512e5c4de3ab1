/* Long rows and channels stay accurate: with any values, the errors of y, dx, dgamma and dbeta are
 * at most 8 units if nl_best() chooses. Rungs in plain C, with one lane, do not promise this.
 * SPDX-License-Identifier: MIT */
#include "trial.h"

#include <stdio.h>

enum { MOST_UNITS = 8 };

static void begin(void) {
    if (strcmp(nl_isa_best(), "c") == 0) cr_skip("plain C: one lane");
    one_thread();
}

TestSuite(long_rows, .init = begin);

static const char *const kinds[] = {"normal",      "head:1e6",  "decay:64",        "decay:1000",
                                    "lognormal:3", "cauchy",    "alternating:1e6", "first:1e4",
                                    "middle:1e4",  "last:1e4",  "ramp:1000",       "offset:4.1",
                                    "offset:1e3",  "offset:1e7"};
enum { KINDS = sizeof kinds / sizeof *kinds, OFFSETS = 3 };

/* The largest error of a parameter's gradient, or 0 if the call has no such gradient. */
static double of_vector(const trial *t, nl_arg arg, const long double *want,
                        const long double *scale) {
    const float *got = t->in.at[arg];
    double most = 0;
    for (size_t j = 0; got && j < t->c.problem.c; j++)
        most = fmax(most, error_units(NL_F32, (double)got[j], want[j], want[j], scale[j]));
    return most;
}

static double largest(const char *op_pass, const char *shape, const char *kind) {
    char text[100];
    trial t;
    snprintf(text, sizeof text, "%s/f32/%s/%s", op_pass, shape, kind);
    trial_make(&t, text);
    trial_place(&t, nl_best(&t.c.problem, 1));
    trial_call(&t, 1);
    const verdict v = outputs_check(&t.in, &t.want);
    const ref_outputs *w = &t.want.want;
    const double dgamma = of_vector(&t, NL_DGAMMA, w->dgamma, w->dgamma_scale);
    const double dbeta = of_vector(&t, NL_DBETA, w->dbeta, w->dbeta_scale);
    if (v.outcome == OUTCOME_FAIL) cr_assert_fail("%s: %s", text, v.why);
    if (v.error_u > MOST_UNITS || dgamma > MOST_UNITS || dbeta > MOST_UNITS)
        cr_assert_fail("%s: y or dx is off by %g units, dgamma by %g, dbeta by %g", text, v.error_u,
                       dgamma, dbeta);
    trial_end(&t);
    return v.error_u;
}

/* Tests each shape with each kind of data. At least one of the errors must not be 0. */
static void all(const char *op_pass, const char *const shapes[], size_t count, size_t kinds_count) {
    double most = 0;
    for (size_t i = 0; i < count * kinds_count; i++)
        most = fmax(most, largest(op_pass, shapes[i / kinds_count], kinds[i % kinds_count]));
    cr_assert(most > 0, "%s: no error at all", op_pass);
}

Test(long_rows, forward_of_rows) {
    static const char *const shapes[] = {"2x1000", "2x4096", "2x16384", "2x16385", "2x40000"};
    all("layernorm/forward", shapes, 5, KINDS);
    all("rmsnorm/forward", shapes, 5, KINDS);
}

Test(long_rows, forward_of_channels) {
    static const char *const shapes[] = {"300x3", "20000x2", "100x2x49", "300x2x49", "2x2x19900"};
    all("batchnorm/forward", shapes, 5, KINDS);
    largest("batchnorm/forward", "1x1x1048576", "decay:1000");
    largest("batchnorm/forward", "1x1x1048576", "head:1e6");
}

/* Does not test channels with `offset`, where the rounding of the saved mean is a larger error. */
Test(long_rows, backward) {
    static const char *const rows[] = {"3x4096", "9x16385", "2x40000", "9x1023", "5x40"};
    static const char *const channels[] = {"20000x2", "300x2x49", "2x2x20000"};
    all("layernorm/backward", rows, 5, KINDS);
    all("rmsnorm/backward", rows, 5, KINDS);
    all("batchnorm/backward", channels, 3, KINDS - OFFSETS);
}
