/* Compares the study `length` with bounds of rounding, `eps` with formulas, and `gradients` with
 * the verification of the same calls. SPDX-License-Identifier: MIT */
#include "points.h"
#include "trial.h"

TestSuite(study, .init = one_thread);

enum { ROWS = 15 }; /* of a quick run */

static double length_at(const char *csv, const char *what, const char *series, double n) {
    char panel[32];
    snprintf(panel, sizeof panel, "%s of %d rows", what, ROWS);
    return at(csv, &study_length, panel, series, n);
}

/* No error exceeds its bound, which has one rounding for the square, and one for each addition that
 * a value goes through. Higham, "Accuracy and Stability of Numerical Algorithms", chapter 4. */
Test(study, length_is_within_theory) {
    static const struct {
        const char *series;
        double lanes; /* 0: another method */
    } ways[] = {{"1 accumulator", 1}, {"8 lanes", 8},     {"16 lanes", 16}, {"64 lanes", 64},
                {"pairwise", 0},      {"compensated", 0}, {"double", 0}};
    char *csv = points(&study_length);
    for (size_t i = 0; i < 7; i++)
        for (double n = 16; n <= 1 << 18; n *= 2) {
            double lanes = ways[i].lanes, got = length_at(csv, "largest", ways[i].series, n);
            double bound = lanes ? 1 + n / lanes + log2(lanes) : i == 4 ? 1 + log2(n) : 6.0 - i + 1;
            if (!(got > 0 && got <= bound * 1.001))
                cr_assert_fail("%s, %g values: %g u, bound %g u", ways[i].series, n, got, bound);
            if (!(length_at(csv, "median", ways[i].series, n) <= got))
                cr_assert_fail("%s, %g values: the median is above the largest", ways[i].series, n);
        }
    double more = INFINITY; /* on long rows each method is better than the previous method */
    for (size_t i = 0; i < 6; i++) {
        double got = length_at(csv, "median", ways[i].series, 1 << 18);
        if (!(got < more)) cr_assert_fail("%s: %g u after %g u", ways[i].series, got, more);
        more = got;
    }
    double of_16 = length_at(csv, "largest", "16 lanes", 16);
    cr_assert(of_16 == length_at(csv, "largest", "64 lanes", 16),
              "16 values add up in the same way in 16 lanes and in 64");
    free(csv);
}

/* Let z = +-1, b = mean(dy z), r = rstd, and k = var / (var + eps), or sigma / (sigma + eps) if eps
 * is outside the root. Then dx is r (dy - mean(dy) - k b z). dy has three orthogonal parts:
 * mean(dy), b z and the rest. */
Test(study, eps_is_the_formula) {
    enum { C = 1024 };
    double m = 0, b = 0, d = 0, x, y;
    for (size_t i = 0; i < C; i++) {
        double dy = (float)random_normal(0, i);
        m += dy / C, b += (i % 2 ? -dy : dy) / C, d += dy * dy / C;
    }
    char *csv = points(&study_eps), what[16], digits[16], layer[16], where[16];
    size_t count = 0;
    for (char *line = strtok(csv, "\n"); line; line = strtok(NULL, "\n"), count++) {
        int read =
            sscanf(line,
                   "eps,\"%15[a-z], eps %15[^\"]\",\"%15[a-z], eps %15[a-z] the root\",%lf,%lf",
                   what, digits, layer, where, &x, &y);
        double eps = strtof(digits, NULL);
        bool is_outside = !strcmp(where, "outside"), centred = !strcmp(layer, "layernorm");
        double r = is_outside ? 1 / (x + eps) : 1 / sqrt(x * x + eps);
        double k = is_outside ? x * r : x * x * r * r;
        double left = d - (centred ? m * m : 0) - (1 - (1 - k) * (1 - k)) * b * b;
        double want = !strcmp(what, "output") ? x * r : r * sqrt(left / d);
        double allowed = (C + 16) * 0x1p-24 * want; /* one accumulator in both sums */
        if (read != 6 || !(fabs(y - want) <= allowed)) cr_assert_fail("%s: not %g", line, want);
    }
    cr_assert(count == 4 * 2 * 2 * 2 * 25, "%zu points", count);
    free(csv);
}

/* Recomputes every implementation's points: dx by verification, dgamma and dbeta by hand. */
static void same_errors(const char *csv, const char *text, double x, bool sums) {
    trial t;
    trial_make(&t, text);
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        char name[128];
        if (!computes(m, &t.c.problem)) continue;
        snprintf(name, sizeof name, "%s, %s@%s", nl_op_name(t.c.problem.op), m->name, m->isa);
        trial_place(&t, m);
        trial_call(&t, 1);
        double want = verify(&t.c, &t.data, &t.want, m, PLACE_END, 1).error_u;
        for (nl_arg s = sums ? NL_DGAMMA : NL_DX; s <= (sums ? NL_DBETA : NL_DX); s++) {
            const ref_outputs *w = &t.want.want;
            const long double *truth = s == NL_DGAMMA ? w->dgamma : w->dbeta;
            const long double *scale = s == NL_DGAMMA ? w->dgamma_scale : w->dbeta_scale;
            if (!t.in.at[s]) continue;
            if (s != NL_DX) want = 0;
            for (size_t j = 0; s != NL_DX && j < t.c.problem.c; j++)
                want = fmax(want, (double)(fabsl(((float *)t.in.at[s])[j] - truth[j]) / scale[j]) *
                                      0x1p24);
            double got = at(csv, &study_gradients, nl_args[s].name, name, x);
            if (!(want > 0 && fabs(got - want) <= 1e-7 * want))
                cr_assert_fail("%s of %s on %s: %.9g units, not %.9g", nl_args[s].name, name, text,
                               got, want);
        }
        instance_free(&t.in);
    }
    trial_end(&t);
}

Test(study, gradients_are_as_verified) {
    char *csv = points(&study_gradients);
    same_errors(csv, "layernorm/backward/f32/64x1024/offset:4", 4, false);
    same_errors(csv, "rmsnorm/backward/f32/64x1024/offset:16", 16, false);
    same_errors(csv, "batchnorm/backward/f32/1024x64/offset:4194304", 4194304, false);
    same_errors(csv, "layernorm/backward/f32/16x64/normal", 16, true);
    same_errors(csv, "rmsnorm/backward/f32/4096x64/normal", 4096, true);
    same_errors(csv, "batchnorm/backward/f32/64x64/normal", 64, true);
    free(csv);
}

/* The error of a central quotient is proportional to h^2 until rounding, u / h, dominates. In float
 * x + 2^-40 is x, so the quotient is 0 and the error is dx itself. */
Test(study, quotients_have_the_right_slopes) {
    static const char *const layers[] = {"layernorm", "rmsnorm"};
    char *csv = points(&study_gradients), exact[64], rounded[64];
    for (size_t i = 0; i < 2; i++) {
        snprintf(exact, sizeof exact, "%s, long double", layers[i]);
        snprintf(rounded, sizeof rounded, "%s, float", layers[i]);
        for (double h = 0x1p-4; h > 0x1p-10; h /= 2) {
            double ratio = at(csv, &study_gradients, "quotient", exact, h) /
                           at(csv, &study_gradients, "quotient", exact, h / 2);
            if (!(ratio > 3.9 && ratio < 4.1))
                cr_assert_fail("%s: half of h = %g divides the error by %g", exact, h, ratio);
        }
        double least = at(csv, &study_gradients, "quotient", rounded, 0x1p-6);
        double late = at(csv, &study_gradients, "quotient", rounded, 0x1p-14);
        if (!(late > 32 * least)) cr_assert_fail("%s: %g, and later %g", rounded, least, late);
        double gone = at(csv, &study_gradients, "quotient", rounded, 0x1p-40);
        if (gone != 1) cr_assert_fail("%s: at h = 2^-40 the error is %g dx, not dx", rounded, gone);
    }
    free(csv);
}
