/* Tests extreme values, where a naive product leaves float's range or a rounded reciprocal shows.
 * Some properties hold exactly; some answers must be finite. SPDX-License-Identifier: MIT */
#include "trial.h"

#include <stdio.h>

TestSuite(extremes, .init = one_thread);

static bool is_optimized(const nl_impl *m) {
    return strncmp(m->name, "optimized/", 10) == 0;
}

enum { N = 49, C = 4, MANY = N * C };

/* However small eps is, a constant group has xhat = 0. */
Test(extremes, constant_groups_give_beta) {
    static const float values[] = {1000, 0.1f, -3e38f, 1e-40f},
                       epsilons[] = {1e-5f, 1e-29f, 1e-45f};
    static const float gamma[MANY] = {2, -3, 4, 5}, beta[MANY] = {0, 0.5f, -7, 1e-6f};
    size_t compared = 0;
    for (size_t i = 0; i < nl_impl_count() * 4 * 3 * 3; i++) {
        const nl_impl *m = nl_impl_at(i / 36);
        nl_problem p = {.op = i % 3 ? NL_BATCHNORM : NL_LAYERNORM, .s = 1, .momentum = 0.1f};
        p.n = i % 3 == 2 ? 1 : N, p.c = C, p.s = i % 3 == 2 ? N : 1;
        if (p.op == NL_LAYERNORM) p.n = C, p.c = N;
        p.eps = epsilons[i / 3 % 3];
        float x[MANY], y[MANY];
        for (size_t e = 0; e < MANY; e++) x[e] = values[i / 9 % 4];
        if (!m->range_safe || !computes(m, &p)) continue;
        nl_forward_args a = {.x = x, .gamma = gamma, .beta = beta, .y = y};
        if (nl_forward(m, &p, &a, 1) != NL_OK) cr_assert_fail("%s: %s", m->name, nl_message());
        for (size_t e = 0; e < MANY; e++, compared++)
            if (y[e] != beta[feature(&p, e)])
                cr_assert_fail("%s@%s, %s of %g, eps %g: y is %.9g, not %g", m->name, m->isa,
                               nl_op_name(p.op), (double)x[e], (double)p.eps, (double)y[e],
                               (double)beta[feature(&p, e)]);
    }
    cr_assert(compared > 0, "no implementation is range_safe");
}

/* The variance of these channels, or the variance times m / (m - 1), exceeds float's range.
 * Multiplied by momentum it is in the range. */
Test(extremes, running_var_is_finite_where_the_truth_is) {
    static const char *const cases[] = {"33x40/scale:2.2e19", "33x40/scale:1.8e19",
                                        "2x3/scale:1.6e19", "5x3x49/scale:2.2e19",
                                        "33x40/scale:2.2e19/biased-running-var"};
    size_t compared = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[100];
        trial t;
        snprintf(text, sizeof text, "batchnorm/forward/f32/%s", cases[k]);
        trial_make(&t, text);
        for (size_t i = 0; i < nl_impl_count(); i++) {
            const nl_impl *m = nl_impl_at(i);
            if (!m->range_safe || !computes(m, &t.c.problem)) continue;
            verdict v = verify(&t.c, &t.data, &t.want, m, PLACE_END, 1);
            if (v.outcome != OUTCOME_OK)
                cr_assert_fail("%s@%s, %s: %s", m->name, m->isa, text, v.why);
            compared += v.compared;
        }
        trial_end(&t);
    }
    cr_assert(compared > 0, "no implementation is range_safe");
}

/* With eps = 0, x scaled by 2^k gives dx scaled by 2^-k and the same dgamma and dbeta, bit for bit,
 * for rows around zero, and for rows far from zero, whose rstd is much larger than 1 / mean. */
Test(extremes, backward_scales_with_x) {
    static const struct {
        float mean;
        int k;
    } settings[] = {{1, -48}, {1, 60}, {0, -71}, {0, 100}};
    enum { ROWS = 9, WIDE = 130, ALL = ROWS * WIDE };
    static float x[2][ALL], dy[ALL], dx[2][ALL], dgamma[2][WIDE], dbeta[2][WIDE];
    size_t compared = 0;
    for (size_t i = 0; i < nl_impl_count() * 4 * NL_OPS; i++) {
        const nl_impl *m = nl_impl_at(i / 4 / NL_OPS);
        const float shift = settings[i % 4].mean;
        const int k = settings[i % 4].k;
        nl_problem p = {.op = (nl_op)(i / 4 % NL_OPS), .pass = NL_BACKWARD, .n = ROWS, .s = 1};
        p.c = m->c_max && m->c_max < WIDE ? m->c_max : WIDE;
        if (!is_optimized(m) || !computes(m, &p) || (shift != 0 && !is_centred(&p))) continue;
        uint64_t seed = 7;
        for (size_t e = 0; e < ALL; e++) {
            x[0][e] = shift + (float)((int)(random_bits(&seed) % 9) - 4) * (shift ? 0x1p-23f : 1);
            dy[e] = (float)(random_bits(&seed) % 100) / 64;
            x[1][e] = ldexpf(x[0][e], k);
        }
        for (int side = 0; side < 2; side++) {
            float mean[WIDE], rstd[WIDE], *beta = is_centred(&p) ? dbeta[side] : NULL;
            for (size_t g = 0; g < WIDE; g++)
                mean[g] = ldexpf(shift, side * k),
                rstd[g] = ldexpf(shift ? 0x1.5p22f : 0.4f, -side * k);
            nl_backward_args a = {.x = x[side], .dy = dy, .rstd = rstd, .dx = dx[side]};
            a.dgamma = dgamma[side], a.dbeta = beta, a.mean = is_centred(&p) ? mean : NULL;
            a.gate = is_gated(&p) ? dy : NULL;
            if (nl_backward(m, &p, &a, 1) != NL_OK) cr_assert_fail("%s: %s", m->name, nl_message());
        }
        for (size_t e = 0; e < ROWS * p.c; e++, compared++)
            if (dx[1][e] != ldexpf(dx[0][e], -k))
                cr_assert_fail("%s@%s, %s by 2^%d: dx[%zu] is %g, not %g", m->name, m->isa,
                               nl_op_name(p.op), k, e, (double)dx[1][e],
                               (double)ldexpf(dx[0][e], -k));
        if (memcmp(dgamma[0], dgamma[1], p.c * sizeof(float)) ||
            (is_centred(&p) && memcmp(dbeta[0], dbeta[1], p.c * sizeof(float))))
            cr_assert_fail("%s@%s, %s by 2^%d: dgamma or dbeta", m->name, m->isa, nl_op_name(p.op),
                           k);
    }
    cr_assert(compared > 0, "no optimized backward");
}

/* One row's dy is so large that float sums lose the other rows' dy. Yet each kernel's dgamma and
 * dbeta, here the sums of dy, keep the bound that its lanes promise (allow_column of bound.c). */
Test(extremes, sums_of_rows_keep_the_bound) {
    enum { ROWS = 300, WIDE = 70, ALL = ROWS * WIDE, DRAWS = 20 };
    static float x[ALL], dy[ALL], dx[ALL], zeros[ALL], ones[ALL], sums[2][WIDE];
    for (size_t e = 0; e < ALL; e++) ones[e] = 1, x[e] = e % 2 ? -1 : 1; /* xhat is x */
    size_t compared = 0;
    uint64_t seed = 11;
    for (size_t i = 0; i < nl_impl_count() * NL_OPS * DRAWS; i++) {
        const nl_impl *m = nl_impl_at(i / NL_OPS / DRAWS);
        nl_problem p = {.op = (nl_op)(i / DRAWS % NL_OPS), .pass = NL_BACKWARD, .s = 1};
        p.n = 2 + random_bits(&seed) % (ROWS - 1);
        p.c = 2 + random_bits(&seed) % (m->c_max && m->c_max < WIDE ? m->c_max - 1 : WIDE - 1);
        p.c -= p.c % 2;
        if (nl_layers[p.op].by_channel || is_gated(&p) || !computes(m, &p)) continue;
        const size_t large = random_bits(&seed) % p.n;
        double sum = 0;
        for (size_t r = 0; r < p.n; r++) {
            const float of =
                r == large ? 0x1p24f : 0.51f + (float)(random_bits(&seed) % 256) / 1024;
            for (size_t j = 0; j < p.c; j++) dy[r * p.c + j] = of;
            sum += (double)of;
        }
        nl_backward_args a = {.x = x, .dy = dy, .rstd = ones, .dx = dx, .dgamma = sums[0]};
        if (is_centred(&p)) a.mean = zeros, a.dbeta = sums[1];
        if (nl_backward(m, &p, &a, 3) != NL_OK) cr_assert_fail("%s: %s", m->name, nl_message());
        const double n = (double)p.n, lanes = fmin(n, m->lanes);
        const double most = 2 + fmax(n / lanes + lanes, fmin(n, 4.0 * m->lanes));
        for (size_t j = 0; j < p.c * (1 + is_centred(&p)); j++, compared++) {
            const double units = fabs(fabs((double)sums[j / p.c][j % p.c]) - sum) / sum * 0x1p24;
            if (!(units <= most))
                cr_assert_fail("%s@%s, %s %zu x %zu: a sum is %.3g units off, more than %.3g",
                               m->name, m->isa, nl_op_name(p.op), p.n, p.c, units, most);
        }
    }
    cr_assert(compared > 0, "no backward");
}

/* In these constant rows, mean times rstd leaves float's range. Lanes past the end of a row read x
 * as zero, and must add nothing infinite. xhat is 0, so dx = (g - mean(g)) * rstd. */
Test(extremes, backward_of_constant_rows_is_finite) {
    static const size_t widths[] = {1, 3, 17, 33, 63, 130, 300, 513};
    enum { ROWS = 5, WIDE = 513, ALL = ROWS * WIDE, WIDTHS = sizeof widths / sizeof *widths };
    static float x[ALL], dy[ALL], dx[ALL], dgamma[WIDE], dbeta[WIDE];
    size_t compared = 0;
    for (size_t i = 0; i < nl_impl_count() * WIDTHS; i++) {
        const nl_impl *m = nl_impl_at(i / WIDTHS);
        nl_problem p = {.op = NL_LAYERNORM, .pass = NL_BACKWARD, .n = ROWS, .s = 1};
        p.c = widths[i % WIDTHS], p.dtype = m->dtypes & NL_BIT(NL_F32) ? NL_F32 : NL_BF16;
        if (!is_optimized(m) || !computes(m, &p)) continue;
        float mean[ROWS], rstd[ROWS];
        uint64_t seed = 7;
        nl_store(p.dtype, x, 0, 2e36f);
        for (size_t r = 0; r < ROWS; r++) mean[r] = nl_load(p.dtype, x, 0), rstd[r] = 316;
        for (size_t e = 0; e < ROWS * p.c; e++) {
            nl_store(p.dtype, x, e, mean[0]);
            nl_store(p.dtype, dy, e, (float)(random_bits(&seed) % 100) / 64);
        }
        nl_backward_args a = {.x = x, .dy = dy, .mean = mean, .rstd = rstd, .dx = dx};
        a.dgamma = dgamma, a.dbeta = dbeta;
        if (nl_backward(m, &p, &a, 1) != NL_OK) cr_assert_fail("%s: %s", m->name, nl_message());
        for (size_t e = 0; e < ROWS * p.c; e++, compared++) {
            const size_t row = e / p.c * p.c;
            double g = 0;
            for (size_t j = row; j < row + p.c; j++) g += (double)nl_load(p.dtype, dy, j);
            double want = 316 * ((double)nl_load(p.dtype, dy, e) - g / (double)p.c);
            if (p.c == 1) want = 0;
            if (!(fabs((double)nl_load(p.dtype, dx, e) - want) <= 316 * 0x1p-7))
                cr_assert_fail("%s@%s, c = %zu: dx[%zu] is %g, not %g", m->name, m->isa, p.c, e,
                               (double)nl_load(p.dtype, dx, e), want);
        }
    }
    cr_assert(compared > 0, "no optimized backward");
}
