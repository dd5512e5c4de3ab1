/* Tests the checker with wrong kernels of gated RMSNorm, which tests/mutants/ does not have. Each
 * must fail on a case of the suite that the right kernel passes. SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "gate.h"
#include "trial.h"

#include <stdio.h>

TestSuite(gated, .init = one_thread);

/* The kernel's mistake. OVERFLOWS: z / (1 + exp(-z)), whose exp overflows for z below -88. */
static enum mistake {
    NOTHING,
    OTHER_ORDER,
    SIGMOID,
    OVERFLOWS,
    NEXT_GATE,
    NO_SLOPE,
    NO_GAIN_IN_DGATE,
    GATE_NOT_IN_DGAMMA,
    DX_OF_THE_PRODUCT,
    ROUNDED_SILU,
    ROW_LOST
} now;

static float silu_of(const nl_problem *p, const void *gate, size_t i) {
    const size_t c = p->c, next = i / c * c + (i % c + 1) % c;
    const float z = nl_load(p->dtype, gate, now == NEXT_GATE ? next : i);
    if (now == SIGMOID) return nl_sigmoid(z);
    if (now == ROUNDED_SILU) return nl_round(p->dtype, nl_silu(z));
    return now == OVERFLOWS ? z / (1 + expf(-z)) : nl_silu(z);
}

static bool is_first(const nl_problem *p) {
    return (p->op == NL_GATE_FIRST_RMSNORM) != (now == OTHER_ORDER);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    for (size_t r = 0; r < p->n; r++) {
        float squares = 0;
        for (size_t k = 0; k < 2 * p->c; k++) { /* first the sum, then y */
            const size_t i = r * p->c + k % p->c;
            const float silu = silu_of(p, a->gate, i), x = nl_load(p->dtype, a->x, i);
            const float in = is_first(p) ? x * silu : x;
            if (k < p->c) {
                squares += in * in;
                continue;
            }
            const float xhat = in * (1 / sqrtf(squares / (float)p->c + p->eps));
            const float y = xhat * nl_gain(a->gamma, false, i % p->c);
            nl_store(p->dtype, a->y, i, is_first(p) ? y : y * silu);
        }
        if (a->rstd) a->rstd[r] = 1 / sqrtf(squares / (float)p->c + p->eps);
    }
}

static float slope_of(float z) {
    return now == NO_SLOPE ? nl_sigmoid(z) : nl_silu_slope(z);
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    float *dgamma = a->dgamma;
    (void)threads;
    for (size_t j = 0; j < p->c && dgamma; j++) dgamma[j] = 0;
    for (size_t r = 0; r < p->n; r++) {
        float mean_gx = 0, rstd = a->rstd[r];
        for (size_t k = 0; k < 2 * p->c; k++) { /* first the sums, then dx and dgate */
            const size_t j = k % p->c, i = r * p->c + j;
            const float x = nl_load(p->dtype, a->x, i), z = nl_load(p->dtype, a->gate, i);
            const float silu = silu_of(p, a->gate, i), gain = nl_gain(a->gamma, false, j);
            const float given = nl_load(p->dtype, a->dy, i),
                        dy = is_first(p) ? given : given * silu;
            const float xhat = (is_first(p) ? x * silu : x) * rstd;
            if (k < p->c) {
                mean_gx += gain * dy * xhat / (float)p->c;
                if (dgamma && (now != ROW_LOST || r % 16384 != 16383))
                    dgamma[j] += (now == GATE_NOT_IN_DGAMMA ? given : dy) * xhat;
                continue;
            }
            const float du = rstd * (gain * dy - xhat * mean_gx);
            const float by =
                is_first(p) ? du * x : (now == NO_GAIN_IN_DGATE ? 1 : gain) * given * xhat;
            const bool whole = is_first(p) && now != DX_OF_THE_PRODUCT;
            nl_store(p->dtype, a->dx, i, whole ? du * silu : du);
            if (a->dgate) nl_store(p->dtype, a->dgate, i, by * slope_of(z));
        }
    }
}

static const nl_impl kernel = TEST_IMPL(.name = "test/gated", .method = NL_TWO_PASS,
                                        .forward = forward, .backward = backward);

#define LAST "gated_rmsnorm/"
#define FIRST "gate_first_rmsnorm/"

Test(gated, wrong_kernels_fail) {
    static const struct {
        enum mistake mistake;
        const char *text, *output;
    } mutants[] = {
        {OTHER_ORDER, LAST "forward/f32/9x72/normal", "y"},
        {OTHER_ORDER, FIRST "backward/bf16/9x72/normal", "dx"},
        {SIGMOID, FIRST "forward/f16/3x37/normal", "rstd"},
        {SIGMOID, LAST "backward/bf16/3x37/normal", "d"},
        {OVERFLOWS, LAST "forward/f32/9x72/normal/gate=offset:-90", "y"},
        {NEXT_GATE, LAST "forward/bf16/3x37/normal", "y"},
        {NO_SLOPE, FIRST "backward/f16/3x37/normal", "dgate"},
        {NO_GAIN_IN_DGATE, LAST "backward/f32/3x37/normal", "dgate"},
        {GATE_NOT_IN_DGAMMA, LAST "backward/f16/3x37/normal", "dgamma"},
        {DX_OF_THE_PRODUCT, FIRST "backward/bf16/3x37/normal", "dx"},
        {ROUNDED_SILU, LAST "forward/bf16/9x72/normal", "y"},
        {ROW_LOST, LAST "backward/f32/65537x2/exact/eps=0", "dgamma"},
        {ROW_LOST, FIRST "backward/bf16/65537x2/exact/eps=0", "dgamma"},
    };
    case_list suite = {0};
    cr_assert(suite_cases(&suite, SUITE_FOR_ALL, 0, (char[700]){0}, 700));
    for (size_t m = 0; m < sizeof mutants / sizeof *mutants; m++) {
        trial t;
        size_t at = 0;
        trial_make(&t, mutants[m].text);
        now = NOTHING;
        const verdict right = verify(&t.c, &t.data, &t.want, &kernel, PLACE_END, 1);
        now = mutants[m].mistake;
        const verdict v = verify(&t.c, &t.data, &t.want, &kernel, PLACE_END, 1);
        while (at < suite.count && strcmp(suite.items[at].text, mutants[m].text) != 0) at++;
        if (right.outcome != OUTCOME_OK || v.outcome != OUTCOME_FAIL ||
            strncmp(v.why, mutants[m].output, strlen(mutants[m].output)) != 0 || at == suite.count)
            cr_assert_fail("mutant %zu on %s%s: right %s, wrong %s %s", m, mutants[m].text,
                           at == suite.count ? ", which is not in the suite" : "", right.why,
                           outcome_name(v.outcome), v.why);
        trial_end(&t);
    }
    cases_free(&suite);
}

/* If silu, its derivative or a product is subnormal or 0, right kernels pass or have no bound. */
Test(gated, right_at_the_ends_of_the_range) {
    static const struct {
        const char *text;
        outcome right;
    } cases[] = {
        {FIRST "forward/f32/24x1/inf/gate=scale:60", OUTCOME_DEMO}, /* Inf * silu(-110) */
        {FIRST "backward/f32/1x1/normal/gate=scale:1e4/eps=0", OUTCOME_DEMO},
        {FIRST "backward/f32/9x40/normal/gate=scale:1e4/gamma=scale:1e-44", OUTCOME_OK},
        {FIRST "backward/f32/1x1/scale:3e30/dy=scale:1e-39/gate=tiny/eps=1e6", OUTCOME_OK},
        {LAST "backward/bf16/4x30/normal/dy=inf/gate=scale:1e4/gain=-1/eps=1e6", OUTCOME_OK},
        {LAST "forward/f32/12x535/normal/gate=scale:60/gamma=scale:1e-44", OUTCOME_OK},
    };
    now = NOTHING;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trial t;
        trial_make(&t, cases[i].text);
        const verdict v = verify(&t.c, &t.data, &t.want, &kernel, PLACE_END, 1);
        cr_expect(v.outcome == cases[i].right, "%s: %s %s", cases[i].text, outcome_name(v.outcome),
                  v.why);
        trial_end(&t);
    }
}
