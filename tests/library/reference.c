/* Compares the long-double reference with examples worked by hand and with MPFR in 400 bits, on
 * easy, hard and special data. gradients.c tests gradients. SPDX-License-Identifier: MIT */
#include "exact.h"
#include "layer.h"

#include <criterion/parameterized.h>
#include <float.h>

static run r, other; /* not shared: every test runs in its own process */

static bool same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* The root is exactly 5 for [3, 4] with eps = 12.5, and exactly 2 for [1, 3] with eps = 3, but only
 * if eps is in the right place. Results with four digits are rounded; w is gamma - 1. */
static const struct example {
    nl_op op;
    size_t n, c;
    float eps, gamma[3];
    double x[4], y[4], error;
} examples[] = {
    {NL_RMSNORM, 1, 2, 0, {1, 1}, {3, 4}, {0.8485, 1.1314}, 5e-5},                 /* rms 3.5355 */
    {NL_RMSNORM, 1, 3, 0, {1, 1, 1}, {1, -1, 2}, {0.7071, -0.7071, 1.4142}, 5e-5}, /* rms 1.4142 */
    {NL_RMSNORM, 2, 2, 0, {1, 1}, {1, 2, 3, 4}, {0.6325, 1.2649, 0.8485, 1.1314}, 5e-5},
    {NL_RMSNORM, 1, 3, 1e-5f, {2, 0.5f, 1}, {1, -1, 2}, {1.414, -0.354, 1.414}, 5e-4},
    {NL_QWEN2_RMSNORM, 1, 3, 1e-5f, {1, -0.5f, 0}, {1, -1, 2}, {1.414, -0.354, 1.414}, 5e-4},
    {NL_RMSNORM, 1, 3, 1e-5f, {2, 0.5f, 1}, {0, 0, 0}, {0, 0, 0}, 0},
    {NL_RMSNORM, 1, 2, 12.5f, {1, 2}, {3, 4}, {0.6, 1.6}, 1e-15},
    {NL_QWEN2_RMSNORM, 1, 2, 12.5f, {0, 1}, {3, 4}, {0.6, 1.6}, 1e-15},
    {NL_LAYERNORM, 2, 2, 0, {1, 1}, {1, 2, 3, 4}, {-1, 1, -1, 1}, 0},
    {NL_LAYERNORM, 1, 2, 3, {1, 4}, {1, 3}, {-0.5, 2}, 0},
    {NL_BATCHNORM, 2, 2, 0, {1, 1}, {1, 2, 3, 4}, {-1, -1, 1, 1}, 0},
    {NL_BATCHNORM, 2, 2, 3, {1, 4}, {1, 2, 3, 4}, {-0.5, -2, 0.5, 2}, 0},
};

Test(reference, worked_by_hand) {
    for (const struct example *e = examples; e < examples + sizeof examples / sizeof *e; e++) {
        r.p = (nl_problem){.op = e->op, .n = e->n, .c = e->c, .s = 1, .eps = e->eps};
        memcpy(r.x, e->x, sizeof e->x);
        memcpy(r.gamma, e->gamma, sizeof e->gamma);
        compute(&r, NL_FORWARD, 1);
        for (size_t i = 0; i < e->n * e->c; i++) {
            long double y = ref_gain(&r.p, r.gamma, i % e->c) * r.out.xhat[i];
            if (!near(y, e->y[i], e->error))
                cr_assert_fail("example %zu, %s: y[%zu] = %.6Lf, by hand %g",
                               (size_t)(e - examples), nl_op_name(e->op), i, y, e->y[i]);
        }
    }
}

/* X = [[1, 2], [3, 4]] has means 2 and 3, biased variances 1 and unbiased variances 2. */
Test(reference, running_statistics_by_hand) {
    for (int biased = 0; biased < 2; biased++) {
        r = (run){.x = {1, 2, 3, 4}, .running_mean = {10, 20}, .running_var = {4, 8}};
        r.p = (nl_problem){.op = NL_BATCHNORM, .n = 2, .c = 2, .s = 1, .eps = 1};
        r.p.momentum = 0.25f, r.p.biased_running_var = biased;
        compute(&r, NL_FORWARD, 1);
        cr_assert(r.out.running_mean[0] == 8 && r.out.running_mean[1] == 15.75L &&
                      r.out.running_var[0] == (biased ? 3.25L : 3.5L) &&
                      r.out.running_var[1] == (biased ? 6.25L : 6.5L),
                  "biased %d: running mean %Lg, %Lg, variance %Lg, %Lg", biased,
                  r.out.running_mean[0], r.out.running_mean[1], r.out.running_var[0],
                  r.out.running_var[1]);
    }
    r = (run){.x = {5}, .running_mean = {1}, .running_var = {3}};
    r.p = (nl_problem){.op = NL_BATCHNORM, .n = 1, .c = 1, .s = 1, .eps = 1};
    compute(&r, NL_INFERENCE, 1);
    cr_assert(r.out.xhat[0] == 2 && r.out.running_mean[0] == 0 && r.out.running_var[0] == 0,
              "inference: %g, not (5 - 1) / sqrt(3 + 1); or running statistics changed",
              r.out.xhat[0]);
}

static exact e;
static const struct kind *kind;

/* Fails unless the error of `got` is at most 2^-bits times the scale. */
static void judge(const char *what, size_t i, long double got, mpfr_t want, long double scale,
                  int bits) {
    long double error = exact_error(&e, got, want);
    if (error <= ldexpl(scale, -bits)) return;
    cr_assert_fail("%s %s %s %zux%zux%zu: %s[%zu] = %.21Lg is off by 2^%.1Lf of its scale, %Lg",
                   nl_op_name(r.p.op), nl_pass_name(r.p.pass), kind->name, r.p.n, r.p.c, r.p.s,
                   what, i, got, log2l(error / scale), scale);
}

/* xhat and dx are stored as double (error 2^-53 of the scale) after about ten operations in long
 * double, which some machines compute in double: 2^-50 in all. The statistics stay long double; a
 * few dozen roundings may cost 6 of the 64 bits of long double. */
enum { BITS = 50, STATISTIC_BITS = LDBL_MANT_DIG >= 64 ? 58 : 47 };

/* Judges dgate of element i of a group. If the gate comes first, e.slope changes from the
 * derivative by x * silu(gate) to the derivative by x. */
static void judge_gate(size_t i, size_t at) {
    const double z = r.gate[at];
    const bool first = r.p.op == NL_GATE_FIRST_RMSNORM;
    mpfr_t s, t;
    mpfr_init2(s, EXACT_BITS), mpfr_init2(t, EXACT_BITS);
    exact_sigmoid(s, z), exact_sigmoid(t, -z);
    mpfr_mul_d(t, t, z, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_mul(t, t, s, MPFR_RNDN); /* silu's derivative */
    if (first) {
        mpfr_mul(t, t, e.slope, MPFR_RNDN);
        mpfr_mul_d(t, t, r.x[at], MPFR_RNDN);
        mpfr_mul_d(s, s, z, MPFR_RNDN);
        mpfr_mul(e.slope, e.slope, s, MPFR_RNDN);
    } else {
        mpfr_mul(t, t, e.xhat[i], MPFR_RNDN);
        mpfr_mul_d(t, t, r.dy[at] * (double)r.gamma[feature(&r.p, at)], MPFR_RNDN);
    }
    judge("dgate", at, r.out.dgate[at], t, r.out.dgate_scale[at], BITS);
    mpfr_clear(s), mpfr_clear(t);
}

static void judge_group(size_t g) {
    size_t m = group_size(&r.p);
    long double magnitude = r.out.magnitude[g], old = r.running_mean[g], w = r.p.momentum;
    exact_group(&e, &r, g);
    judge("mean", g, r.out.mean[g], e.mean, magnitude, STATISTIC_BITS);
    judge("var", g, r.out.var[g], e.var, r.out.var[g] + 0x1p-200L * magnitude * magnitude,
          STATISTIC_BITS);
    judge("rstd", g, r.out.rstd[g], e.rstd, r.out.rstd[g], STATISTIC_BITS);
    for (size_t i = 0; i < m; i++) {
        size_t at = element(&r.p, g, i), j = feature(&r.p, at);
        double xhat = r.out.xhat[at], sum = r.out.sum[at];
        judge("xhat", at, xhat, e.xhat[i], fmax(1, fabs(xhat)), BITS);
        judge("sum", at, sum, e.x[i], fabs(sum), 53);
        const double factor = r.p.op == NL_GATED_RMSNORM ? silu(r.gate[at]) : 1;
        mpfr_mul_d(e.t, e.xhat[i], r.dy[at] * factor, MPFR_RNDN);
        mpfr_add(e.dgamma[j], e.dgamma[j], e.t, MPFR_RNDN);
        mpfr_add_d(e.dbeta[j], e.dbeta[j], r.dy[at], MPFR_RNDN);
    }
    for (size_t i = 0; i < m && r.p.pass == NL_BACKWARD; i++) {
        size_t at = element(&r.p, g, i);
        exact_slope(&e, &r, g, i);
        if (r.dresidual) mpfr_add_d(e.slope, e.slope, r.dresidual[at], MPFR_RNDN);
        if (is_gated(&r.p)) judge_gate(i, at);
        judge("dx", at, r.out.dx[at], e.slope, r.out.dx_scale[at], BITS);
    }
    if (r.p.op != NL_BATCHNORM || r.p.pass != NL_FORWARD) return;
    long double var = r.p.biased_running_var ? r.out.var[g] : r.out.var[g] * m / (m - 1);
    mpfr_set_ld(e.mean, old + w * (r.out.mean[g] - old), MPFR_RNDN);
    mpfr_set_ld(e.var, r.running_var[g] + w * (var - r.running_var[g]), MPFR_RNDN);
    judge("running_mean", g, r.out.running_mean[g], e.mean, fabsl(old) + magnitude, STATISTIC_BITS);
    judge("running_var", g, r.out.running_var[g], e.var, r.running_var[g] + var, STATISTIC_BITS);
}

static size_t indices[NL_OPS * KINDS];

ParameterizedTestParameters(reference, agrees_with_mpfr) {
    for (size_t i = 0; i < NL_OPS * KINDS; i++) indices[i] = i;
    return cr_make_param_array(size_t, indices, NL_OPS * KINDS);
}

ParameterizedTest(size_t *index, reference, agrees_with_mpfr) {
    nl_op op = (nl_op)(*index / KINDS);
    kind = &kinds[*index % KINDS];
    static double dresidual[MAX];
    for (int i = 0; i < MAX; i++) dresidual[i] = 1.5 - i % 7;
    for (size_t s = 0; s < 4 * 3; s++) {
        nl_pass pass = (nl_pass)(s % 3);
        if (!fill(&r, op, kind, shapes[s / 3])) continue;
        if (pass == NL_INFERENCE && op != NL_BATCHNORM) continue;
        r.dresidual = r.fused && pass == NL_BACKWARD ? dresidual : NULL;
        r.p.biased_running_var = s & 1;
        exact_open(&e);
        compute(&r, pass, 1);
        for (size_t g = 0; g < ref_groups(&r.p); g++) judge_group(g);
        for (size_t j = 0; j < r.p.c && pass == NL_BACKWARD; j++) {
            judge("dgamma", j, r.out.dgamma[j], e.dgamma[j], r.out.dgamma_scale[j], BITS);
            judge("dbeta", j, r.out.dbeta[j], e.dbeta[j], r.out.dbeta_scale[j], STATISTIC_BITS);
        }
        exact_close(&e);
    }
}

/* A NaN, an Inf or constant values in one group must not change a bit of other groups. */
Test(reference, special_values) {
    static const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0, 1234.1};
    for (size_t k = 0; k < NL_OPS * 5; k++) {
        double v = values[k % 5];
        fill(&other, (nl_op)(k / 5), &kinds[0], shapes[0]);
        for (size_t i = 0; i < MAX; i++) other.gate[i] = 1.5; /* a constant x * silu(gate) */
        compute(&other, NL_BACKWARD, 1), compute(&other, NL_FORWARD, 1);
        r = other;
        size_t m = group_size(&r.p), first = isfinite(v) ? 0 : 2, end = isfinite(v) ? m : 3;
        for (size_t i = first; i < end; i++) r.x[element(&r.p, 1, i)] = v;
        compute(&r, NL_BACKWARD, 1), compute(&r, NL_FORWARD, 1);
        bool centred = is_centred(&r.p);
        for (size_t i = 0; i < m * ref_groups(&r.p); i++) {
            size_t g = i / m, at = element(&r.p, g, i % m);
            double want = other.out.xhat[at], got = r.out.xhat[at];
            const double u = r.p.op == NL_GATE_FIRST_RMSNORM ? v * silu(1.5) : v;
            if (g == 1 && isfinite(v))
                want = centred ? 0 : u / sqrt(u * u + (double)r.p.eps);
            else if (g == 1)
                want = isnan(v) || centred || i % m == 2 ? (double)NAN : 0;
            bool right = same(got, want) || (g == 1 && near(got, want, fabs(want) * 0x1p-52));
            if (g != 1) right = right && same(r.out.dx[at], other.out.dx[at]);
            if (g == 1 && !isfinite(v))
                right = right && isnan(r.out.dx[at]) && !isfinite((double)r.out.var[g]) &&
                        !isfinite((double)r.out.magnitude[g]);
            if (g == 1 && r.p.op == NL_BATCHNORM && !isfinite(v))
                right = right && isnan(r.out.running_mean[g]) && isnan(r.out.running_var[g]);
            if (g != 1 && r.p.op == NL_BATCHNORM)
                right = right && r.out.running_var[g] == other.out.running_var[g];
            if (!right)
                cr_assert_fail("%s, %g: xhat[%zu] = %g, expected %g", nl_op_name(r.p.op), v, at,
                               got, want);
        }
    }
}

/* A NaN or Inf in dy reaches its group's dx, its feature's dgamma and dbeta, and nothing else. */
Test(reference, special_gradients) {
    for (size_t k = 0; k < NL_OPS * 2; k++) {
        fill(&other, (nl_op)(k / 2), &kinds[0], shapes[0]);
        compute(&other, NL_BACKWARD, 1);
        r = other;
        const size_t m = group_size(&r.p), special = element(&r.p, 1, 2);
        r.dy[special] = k % 2 ? (double)INFINITY : (double)NAN;
        compute(&r, NL_BACKWARD, 1);
        for (size_t i = 0; i < m * ref_groups(&r.p); i++) {
            const size_t at = element(&r.p, i / m, i % m);
            cr_assert(i / m == 1 ? !isfinite(r.out.dx[at]) : same(r.out.dx[at], other.out.dx[at]),
                      "%s, dy = %g: dx[%zu] is %g", nl_op_name(r.p.op), r.dy[special], at,
                      r.out.dx[at]);
        }
        for (size_t j = 0; j < r.p.c; j++) {
            const bool its = j == special / r.p.s % r.p.c;
            cr_assert(its ? !isfinite((double)(r.out.dgamma[j] * r.out.dbeta[j])) &&
                                !isfinite((double)r.out.dgamma_scale[j])
                          : r.out.dgamma[j] == other.out.dgamma[j] &&
                                r.out.dbeta[j] == other.out.dbeta[j],
                      "%s, dy = %g: dgamma[%zu] is %Lg", nl_op_name(r.p.op), r.dy[special], j,
                      r.out.dgamma[j]);
        }
    }
}

Test(reference, degenerate_shapes) {
    for (nl_op op = NL_BATCHNORM; op < NL_OPS; op++) {
        r = (run){.x = {0, 0, 0, 0}, .p = {.op = op, .n = 2, .c = 2, .s = 1}};
        compute(&r, NL_FORWARD, 1);
        cr_assert(isnan(r.out.xhat[0]), "%s, eps = 0, var = 0: %g", nl_op_name(op), r.out.xhat[0]);
        cr_assert(ref_gain(&r.p, NULL, 1) == 1, "%s: no gamma differs from a gain of one",
                  nl_op_name(op));
        r.p.n = 0, r.out.xhat[0] = 7, r.out.dbeta[0] = 7;
        cr_assert(compute(&r, NL_BACKWARD, 1) && r.out.xhat[0] == 7 && r.out.dbeta[0] == 7,
                  "%s, n = 0: something was written", nl_op_name(op));
        if (op == NL_BATCHNORM || op == NL_GATE_FIRST_RMSNORM) continue;
        r = (run){.x = {1e6, 3, 2}, .dy = {1, 2, 3}, .gamma = {2}};
        r.p = (nl_problem){.op = op, .n = 3, .c = 1, .s = 1, .eps = 1e-5f};
        compute(&r, NL_BACKWARD, 1);
        double xhat = is_centred(&r.p) ? 0 : 3 / sqrt(9 + (double)1e-5f);
        cr_assert(near(r.out.xhat[1], xhat, 1e-15) && r.out.dbeta[0] == 6 &&
                      (!is_centred(&r.p) || (r.out.dx[1] == 0 && r.out.dgamma[0] == 0)),
                  "%s, c = 1: xhat %g, dx %g, dgamma %Lg", nl_op_name(op), r.out.xhat[1],
                  r.out.dx[1], r.out.dgamma[0]);
    }
}

/* Next to 2^70 the ones are lost, even in long double, unless the sum is compensated. */
Test(reference, sums_are_compensated) {
    static const double large[] = {0x1p70, 1, 1, 0x1p70, -0x1p70, -0x1p70}; /* [3][2] */
    r = (run){.x = {1, 1, 1, 1, 1, 1}, .gamma = {1, 1}};
    r.p = (nl_problem){.op = NL_RMSNORM, .n = 3, .c = 2, .s = 1};
    memcpy(r.dy, large, sizeof large);
    compute(&r, NL_BACKWARD, 1);
    for (size_t j = 0; j < 2; j++)
        cr_assert(r.out.dbeta[j] == 1 && r.out.dgamma[j] == 1, "dbeta %Lg, dgamma %Lg, not 1",
                  r.out.dbeta[j], r.out.dgamma[j]);
    for (nl_op op = NL_BATCHNORM; op <= NL_LAYERNORM; op++) {
        r = (run){.x = {0x1p70, 1, -0x1p70, 1}, .p = {.op = op, .n = 1, .c = 4, .s = 1}};
        if (op == NL_BATCHNORM) r.p.n = 4, r.p.c = 1;
        compute(&r, NL_FORWARD, 1);
        cr_assert(r.out.mean[0] == 0.5L, "%s: the mean of 2^70, 1, -2^70, 1 is %Lg", nl_op_name(op),
                  r.out.mean[0]);
    }
}
